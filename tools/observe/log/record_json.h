/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from text, and as jansson values in both directions, through the table of record.def.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "whichcudnn/record.h"

/* A line as our own writer spells it (core/model/record.c: keys in the order of record.def, no
 * space between), read without building a tree: ten times as quick as jansson, which could not
 * read half of the records that a directory of logs is to be reported in a second. What is spelled
 * in another way is left to jansson, which also has the words for what is wrong. The line is
 * without its newline. room: n + 1 bytes, in which texts are put; lists go into the arena. False:
 * spelled in another way, *out means nothing. */
bool record_from_line(const char *line, size_t n, char *room, struct wc_arena *arena,
                      struct wc_record *out);

#define RECORD_TROUBLE 192 /* bytes that any reason fits in */

enum record_read {
    RECORD_READ,
    RECORD_OTHER_VERSION, /* of the log; trouble says which */
    RECORD_DAMAGED        /* not a record, or not a whole one; trouble says what */
};
/* Texts and lists of *out are in the arena. */
enum record_read record_from_json(const json_t *line, struct wc_arena *arena, struct wc_record *out,
                                  char trouble[RECORD_TROUBLE]);

/* One field, into its place in the record, its texts and lists into the arena; false: not what
 * belongs there. */
bool record_field_from_json(const json_t *value, const struct wc_field *f, struct wc_arena *arena,
                            void *out);

/* Object of all fields of the kind except the one named `without` (NULL: all). New reference. */
json_t *record_to_json(enum wc_kind kind, const void *fields, const char *without);

/* JSON string; bytes that are not UTF-8 become U+FFFD. NULL is null. New reference. */
json_t *text_to_json(const char *s);

/* An array of what `value` gives for each item of a list, as WC_EACH goes through it. */
#define JSON_EACH(item, list, value)                                                               \
    ({                                                                                             \
        json_t *array_ = json_array();                                                             \
        WC_EACH(item, list)                                                                        \
            json_array_append_new(array_, value);                                                  \
        array_;                                                                                    \
    })

/* Prints it on lines of its own, and lets it go. flags: JSON_SORT_KEYS. */
void json_print_as(FILE *to, json_t *value, size_t flags);
#define json_print(to, value) json_print_as(to, value, 0)
