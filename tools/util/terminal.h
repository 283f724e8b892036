/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: what comes out of logs is untrusted and is shown harmless; colour where wanted.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "whichcudnn/record.h"

/* As wc_shown (core/base/shown.h) has it: nothing in it can be an order to a terminal. The caller
 * frees. */
char *harmless_text(const char *s);
/* As fprintf, but the arguments of %s are harmless. Knows %s %d %zu %lld %% only. */
void print_format(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for another place than a terminal: `text` prints the arguments of %s. */
void print_format_by(FILE *to, void (*text)(FILE *to, const char *s), const char *format,
                     va_list *args);

/* Whatever is printed into it becomes a text. */
struct sink {
    FILE *to;
    char *text;
    size_t n;
};
FILE *sink_begin(struct sink *s);
char *sink_end(struct sink *s); /* the caller frees; never NULL */

/* "auto", "always", "never"; false: none of them. Auto: `to` is a terminal and NO_COLOR is unset
 * or empty (no-color.org). */
bool colour_choose(const char *when, FILE *to, bool *colour);

enum paint { PAINT_ERROR, PAINT_WARNING, PAINT_NOTE, PAINT_OK, PAINT_BOLD };
const char *paint_begin(bool colour, enum paint p); /* escape sequence, or "" */
const char *paint_end(bool colour);
enum paint paint_of_severity(enum wc_severity severity);

/* The words as a shell takes them, with a blank before each. The caller frees. */
char *shell_words(char *const *words);
