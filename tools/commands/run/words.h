/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command printed, where `run` can read it, as evidence: versions and statuses become
 * records of the logs, other messages that are known are reported with an end that nothing
 * explains.
 */
#pragma once

#include "copier.h"
#include "tools/report/explain/messages.h"
#include "tools/report/report.h"

#define WORDS_LINES 3 /* messages that are reported */

struct words {
    struct words_stream {
        const struct kept *kept; /* of one that is copied; NULL */
        bool is_file;
        int64_t from; /* of a file: where what the command appends begins */
        struct messages found;
    } of[2]; /* standard error; standard output, unless it is the same */
    struct copier copier;
    bool were_read, name_cudnn;   /* a library of cuDNN is named in what was recognized */
    char *lines[WORDS_LINES + 1]; /* "standard error, line 3: ...", a NULL behind */
    size_t line_count;
};

/* Before the command is started. With `copies`, pipes and terminals get a copier. */
void words_begin(struct words *w, bool copies);
/* After its end: what it printed, and what is recognized in it. */
void words_read(struct words *w);
/* Records for the logs of which these are the reports, which are judged again. What contradicts the
 * only log is complained of, unless `quiet`. */
void words_into_logs(const struct words *w, struct source **logs, struct report *reports, size_t n,
                     bool quiet);
void words_end(struct words *w);
