/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines as our own writer spells them (core/model/record.c: keys in the order of record.def, no
 * space between), read without building a tree: ten times as quick as jansson, which could not
 * read half of the records that a directory of logs is to be reported in a second. What is spelled
 * in another way is left to jansson, which also has the words for what is wrong.
 */
#pragma once

#include "whichcudnn/record.h"

/*
 * The line without its newline. room: n + 1 bytes, in which texts are put; lists go into the arena.
 * False: spelled in another way, *out means nothing.
 */
bool record_from_line(const char *line, size_t n, char *room, struct wc_arena *arena,
                      struct wc_record *out);
/* The same of one value, as jansson spells it without blanks. */
bool record_value_from_text(const char *text, size_t n, char *room, const struct wc_field *f,
                            struct wc_arena *arena, void *out);
