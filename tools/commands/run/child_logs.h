/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logs that a child of `run`, and what it started, has left.
 */
#pragma once

#include <sys/types.h>

#include "family.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/preload.h"

struct child_logs {
    struct logs all; /* files read */
    struct source **found;
    size_t n;                 /* the processes that belong to the child, oldest first */
    struct source **replaced; /* after them: programs that gave way to the last one by exec */
    size_t replaced_count;
    struct source *own; /* the child itself (its last program); NULL: it left none */
    char *passed_over;  /* a new file that is another user's, and why; NULL: there is none */
};

/* Files of others than this family are skipped. start: microseconds since the epoch, older logs
 * are of others. */
void child_logs_find(struct child_logs *c, const struct log_place *place,
                     const struct family *family, pid_t child, int64_t start);
/* Removes what is left of programs that came to nothing: `run` has the child log from its first
 * request on, and a program that is replaced by exec has no end at which to clean up. The
 * last log is kept if a signal ended the child, or if it failed with a file that is not a library.
 */
void child_logs_drop_empty(struct child_logs *c, pid_t child, bool signaled, bool failed);
void child_logs_end(struct child_logs *c);
