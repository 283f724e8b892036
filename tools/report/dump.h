/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that `report --json` holds, one fact after the other: what a renderer for people has
 * to show so that nothing is in one of them alone.
 */
#pragma once

#include <stdio.h>

#include "report.h"

/* A heading ("objects 2"), or a fact; values are untrusted. */
typedef void dump_head(void *arg, const char *list, size_t number);
typedef void dump_one(void *arg, const char *key, const char *value);

/* Nothing is told of what is null or an empty list. */
void dump_each(const struct report *r, dump_head *head, dump_one *one, void *arg);

/* All of it as lines of text. */
void dump_print(FILE *to, const struct report *r);
