/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: what comes out of logs is untrusted and is shown harmless; colour where wanted.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "memory.h"
#include "whichcudnn/record.h"

/* As wc_shown (core/base/shown.h) has it: nothing in it can be an order to a terminal. The caller
 * frees. */
char *harmless_text(const char *s);
/* As fprintf, but the arguments of %s are harmless. Knows %s %d %zu %jd %% only. */
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

enum paint { PAINT_ERROR, PAINT_WARNING, PAINT_NOTE, PAINT_OK, PAINT_BOLD };
const char *paint_begin(bool colour, enum paint p); /* escape sequence, or "" */
const char *paint_end(bool colour);
enum paint paint_of_severity(enum wc_severity severity);

/* The words as a shell takes them, with a blank before each. The caller frees. */
char *shell_words(char *const *words);

#define LAYOUT_WIDTH 100
/* Lines of a report for a terminal of 100 columns: words are filled up to there, what is too long
 * for a line is shortened in the middle. With `whole`, nothing is wrapped or shortened. */
struct layout {
    FILE *to;
    bool colour, whole;
    int column, indent, hang; /* of the line that is being made */
};

/* A new line at `indent` columns; what follows on further lines begins at `hang`. */
void layout_line(struct layout *l, int indent, int hang);
/* One thing that is kept together; untrusted: it is made harmless. NULL adds nothing. */
void layout_painted(struct layout *l, const char *text, enum paint p);
/* The same of a path, shortened rather than put on another line; `reserve` columns stay free. */
void layout_path(struct layout *l, const char *path, int reserve);
/* The same with a colon after it; there must be room, as near a line's start. */
void layout_label(struct layout *l, const char *text, enum paint p);
/* Untrusted words between spaces, arguments as in must_format. */
#define layout_words(l, ...) layout_put(l, must_format(__VA_ARGS__), false)
/* The same, on one line if a line can hold it. */
#define layout_together(l, ...) layout_put(l, must_format(__VA_ARGS__), true)
void layout_end(struct layout *l);
/* A line of only words. */
#define layout_row(l, indent, hang, ...)                                                           \
    (layout_line(l, indent, hang), layout_words(l, __VA_ARGS__), layout_end(l))
/* A line that begins with a word of ours; what belongs to it stands from LAYOUT_KEYS on. */
void layout_key(struct layout *l, const char *word);
#define LAYOUT_KEYS 11
/* The whole of such a line. */
#define layout_fact(l, word, ...) (layout_key(l, word), layout_words(l, __VA_ARGS__), layout_end(l))

/* What `print` prints, cut to a screen; with l->whole all of it. */
#define LAYOUT_SCREEN 24
void layout_screen(struct layout *l, void (*print)(struct layout *l, const void *what),
                   const void *what);

/* What these are made of; it takes the text. */
void layout_put(struct layout *l, char *text, bool together);

/* What wc_text_add_shortened adds. The caller frees. */
char *layout_shortened(const char *s, size_t width);
