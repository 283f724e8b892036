/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of people and machines out of what was read, before anything that is printed is made of it
 * (but repairs, which are changed themselves): then no report, in whatever form, can hold them.
 * Each gets a word of its own (user1, node2), the same everywhere, so that what belonged together
 * still does.
 */
#pragma once

#include <jansson.h>

#include "log_reader.h"

struct redaction; /* of names */

/* Knows no name yet. Never NULL. */
struct redaction *redaction_of_nobody(void);
void redaction_free(struct redaction *r);

/* Takes up the names in it: its node, and all home directories that its texts emit of. All sources
 * first, then the changes. */
void redaction_learn(struct redaction *r, struct source *s);
/* The same of one text; the caller frees. */
void redaction_learn_text(struct redaction *r, const char *text);
char *redaction_text(const struct redaction *r, const char *text);
/* A new value with all its texts changed. */
json_t *redaction_json(const struct redaction *r, json_t *value);
/* Takes up the user of this, the users of this machine, and its name. */
void redaction_learn_own(struct redaction *r);

/* Of the names in all of them, and the present user. */
struct redaction *redaction_of_logs(const struct logs *logs);
void redaction_apply_all(struct redaction *r, struct logs *logs);
