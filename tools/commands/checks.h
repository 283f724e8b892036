/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `doctor` found out: one line per check.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum check_state { CHECK_OK, CHECK_WARNING, CHECK_ERROR, CHECK_STATES };

struct check {
    enum check_state state;
    const char *name; /* a constant */
    char *text, *fix; /* fix: NULL where nothing is to be done */
};

struct checks { /* all zero: none yet */
    struct check *p;
    size_t n;
};

/* Takes text and fix (NULL: none) over. */
void checks_add(struct checks *c, const char *name, enum check_state state, char *text, char *fix);
enum check_state checks_worst(const struct checks *c);
void checks_print(const struct checks *c, bool colour); /* standard output */
json_t *checks_json(const struct checks *c);            /* {"verdict", "checks"}; new reference */
void checks_end(struct checks *c);
