/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of frameworks, of cuDNN and of the loader in a text that a user saved or pasted. The
 * table: tools/knowledge/messages.def. And the pages of docs/findings.md, built into the command.
 */
#pragma once

#include <stdio.h>

#include "core/names/compat.h"
#include "core/records/emit.h"
#include "tools/observe/log/source.h"

#define MESSAGES_TEXT_MOST ((size_t)4 << 20) /* bytes of a text */

enum message_effect {
    EFFECT_FATAL,
    EFFECT_FALLBACK,
    EFFECT_NOISE,
    EFFECT_DEPENDS,
    EFFECT_ELSEWHERE
};

struct message {
    const char *id;
    enum message_effect effect;
    const char *pattern, *means, *findings, *next; /* see tools/knowledge/messages.def */
    size_t library, wanted, found;                 /* groups of the pattern; 0: it has none */
    bool by_words; /* wanted and found are two numbers; words around them say which is which */
    /* Of one with two versions: the program, by which rules it compares them, the newest
     * first, or in words. */
    const char *framework;
    enum wc_rule rules[3];
    const char *compares;
};

struct message_match {
    const struct message *message;
    size_t at, line, times;         /* where it is first, the line from 1; how often */
    char *text;                     /* the words that were recognized, blanks made one */
    char *library, *wanted, *found; /* as the text has them; NULL: it does not print */
    struct wc_version wanted_version, found_version; /* what they mean; may be NONE */
    enum wc_rule rule;                               /* that refuses, else the first; or NONE */
    enum wc_fit fit;
    const char *findings; /* ids that fit, the likeliest first, one space between them; "": none */
};

struct message_finding {
    const char *id, *title;
    unsigned score;
};

struct messages {
    struct message_match *p; /* in the order of the text */
    size_t n, main;          /* main: the message that says most for the likeliest finding */
    WC_LIST(message_finding, ranked); /* what fits, the likeliest first */
    struct heap_arena memory;         /* of their texts */
};

/* n bytes at text, at most MESSAGES_TEXT_MOST. */
void messages_find(const char *text, size_t n, struct messages *found);
void messages_end(struct messages *m);

/* What a program printed next to what its log knows: the text's version that was wanted is a demand
 * of the log's host, the found one is what cudnnGetVersion gave, a status is that of a call. */
struct text_view {
    const char *name, *of; /* "what it printed", " of FILE": where its evidence is from */
    bool fallbacks; /* only text which says that the program continues without the GPU counts, or,
                     * if nobody knows how this process ended, that it refuses its cuDNN */
    bool quiet;
};

/* Passes the records to the sink. What does not fit is complained of, a line each: a version that
 * nothing in the log can have given. */
void text_into_log(const struct messages *m, const struct text_view *view, struct source *s,
                   const struct wc_sink *to);

/* ---- the pages ---- */

/* The section below the heading of an id: as it is there, in Markdown, or filled for a terminal of
 * 80 columns, as generate_pages.py makes it, to be printed by the other. NULL: there is none. */
const char *page_of(const char *id, bool filled);
void page_print(FILE *to, const char *filled, bool colour);
