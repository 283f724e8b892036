/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command printed, where `run` can read it, as evidence: versions and statuses become
 * records of the logs, other messages that are known are told with an end that nothing explains.
 */
#pragma once

#include "tools/report/explain/messages.h"
#include "tools/report/report.h"

#define WORDS_HEAD ((size_t)64 << 10)  /* bytes of a stream that are kept: its first */
#define WORDS_TAIL ((size_t)192 << 10) /* and its last ones */
#define WORDS_LINES 3                  /* messages that are told */

struct words {
    struct words_stream {
        const char *name; /* "standard error" */
        int fd;           /* -1: it is not read, or the other one is the same file */
        int64_t from;     /* where what the command appends begins */
        char *text;
        size_t n;
        bool is_cut; /* between head and tail */
        struct messages found;
    } of[2];
    bool were_read;
    char *lines[WORDS_LINES + 1]; /* "standard error, line 3: ...", a NULL behind */
    size_t line_count;
};

/* Before the command is started: which of its streams is a regular file, and where that ends. */
void words_begin(struct words *w);
/* After its end: what was appended, and what is recognized in it. */
void words_read(struct words *w);
/* Records for the logs of which these are the reports, which are judged anew. What
 * contradicts each of them is complained of, unless `quiet`. */
void words_into_logs(const struct words *w, struct source **logs, struct report *reports, size_t n,
                     bool quiet);
void words_end(struct words *w);
