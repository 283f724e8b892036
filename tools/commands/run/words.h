/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command printed, where `run` can read it, as evidence: versions and statuses become
 * records of the logs, other messages that are known are reported with an end that nothing
 * explains.
 */
#pragma once

#include <termios.h>

#include "tools/report/explain/messages.h"
#include "tools/report/report.h"

#define WORDS_LINES 3 /* messages that are reported */

struct words {
    struct words_stream {
        int to, also; /* a descriptor of ours; another for the same, -1 */
        bool is_file, is_copied;
        int64_t begin;        /* of a file: of what the command appends */
        int from, end;        /* that a copier reads; that the command gets in place of `to` */
        int talk;             /* a socket to the copier */
        bool is_terminal;     /* else a pipe */
        struct termios modes; /* of `end`, as they were last */
        struct kept *kept;    /* its last part; NULL: it was not read */
        struct messages found;
    } of[2];                    /* standard error; standard output, unless it is the same */
    bool were_read, name_cudnn; /* a library of cuDNN is named in what was recognized */
    bool in_turn;               /* the command is a script that ends at the first failure */
    char *stopped;              /* the last program that the loader says it could not start; NULL */
    char *lines[WORDS_LINES + 1]; /* "standard error, line 3: ...", a NULL behind */
    size_t line_count;
};

/* Before the command is started. With `copies`, pipes and terminals get a copier. */
void words_begin(struct words *w, bool copies);
/* In the command, before exec. */
void words_enter(const struct words *w);
/* When the command was started: `run` keeps no end of its streams. */
void words_leave(struct words *w);
/* Returns when all that was printed until now has been copied: as long as the reader takes, for
 * which the command itself would wait. */
void words_settle(const struct words *w);
/* After its end: what it printed, and what is recognized in it. */
void words_read(struct words *w);
/* The script started another program later, as it does only where this one ended well. */
bool words_ended_well(const struct words *w, struct source *const *logs, size_t n,
                      const struct source *log);
/* Records for the logs of which these are the reports, which are judged again. What contradicts the
 * only log is complained of, unless `quiet`. */
void words_into_logs(const struct words *w, struct source **logs, struct report *reports, size_t n,
                     bool quiet);
void words_end(struct words *w);
