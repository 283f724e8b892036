/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a finding's facts are about. Their words are for people, JSON and logs; code that goes on
 * with a finding asks for a role.
 */
#pragma once

#include "whichcudnn/record.h"

enum wc_fact_role {
    WC_FACT_OTHER, /* a function, a part, a variable: its name says what */
#define FACT(role, name, key, rank, how, most) WC_FACT_##role,
#include "facts.def"
    WC_FACT_ROLES
};

struct wc_typed_fact {
    enum wc_fact_role role;
    const char *path; /* of the file or directory that it is about; NULL: it is about none */
};

const char *wc_fact_name(enum wc_fact_role role);
/* Of a word of JSON, a log or findings.def. */
enum wc_fact_role wc_fact_role_named(const char *name);
enum wc_fact_role wc_fact_role_of(const struct wc_facts *facts, const struct wc_fact *fact);
/* Of the first fact with that role; NULL: there is none. */
const char *wc_fact_value(const struct wc_finding_record *f, enum wc_fact_role role);
const char *wc_fact_path(const struct wc_finding_record *f, enum wc_fact_role role);
