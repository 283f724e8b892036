/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a finding's facts are about. Their words are for people, JSON and logs; code that goes on
 * with a finding asks for a role.
 */
#pragma once

#include "whichcudnn/record.h"

enum wc_fact_role {
    WC_FACT_OTHER, /* a function, a part, a variable: its name says what */
#define FACT(role, ...) WC_FACT_##role,
#include "facts.def"
    WC_FACT_ROLES
};

struct wc_typed_fact {
    enum wc_fact_role role;
    const char *path; /* of the file or directory that it is about; NULL: it is about none */
};

/* In this order the rows of a finding's text are printed, and the last of them left out first. */
enum rank {
    RANK_GOT,
    RANK_WANTED,
    RANK_FIX,
    RANK_BEHIND, /* got and wanted, for which there was no room in the first lines */
    RANK_FOUND,
    RANK_NOT_TAKEN,
    RANK_HOST,
    RANK_SAID,
    RANK_OTHER,
    RANK_MIND
};

/* As facts.def has it. */
extern const struct wc_fact_row {
    const char *name, *key; /* key NULL: the fact's own name */
    enum rank rank;
    enum {
        HOW_PLAIN,
        HOW_LIBRARY, /* version and installation after it belong to it */
        HOW_SOURCED, /* with its source */
        HOW_DEMAND,  /* the same, without "requires", with what it was built with */
        HOW_ONCE,    /* the first of them says what all do */
        HOW_NOWHERE
    } how;
    unsigned char most; /* lines */
    const char *source; /* the usual one */
} wc_fact_rows[WC_FACT_ROLES];

/* Of a word of JSON, a log or findings.def. */
enum wc_fact_role wc_fact_role_named(const char *name);
enum wc_fact_role wc_fact_role_of(const struct wc_facts *facts, const struct wc_fact *fact);
/* Of the first fact with that role; NULL: there is none. */
const char *wc_fact_value(const struct wc_finding_record *f, enum wc_fact_role role);
const char *wc_fact_path(const struct wc_finding_record *f, enum wc_fact_role role);
