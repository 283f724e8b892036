/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logs that a child of `run`, and what it started, has left; and the `outcome` record in them:
 * how the child ended, as only its parent knows it.
 */
#pragma once

#include <sys/types.h>

#include "family.h"
#include "supervise.h"
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

void child_logs_end(struct child_logs *c);

/* The record of what the parent saw; observed false, reason NULL. signal_name is a constant. */
void outcome_begin(struct wc_record *r, const struct child *child);
/* Completes it from the child's own log, appends it there and applies it to that stack. A reason is
 * one why that log is not the child's. */
void outcome_add(struct source *own, struct wc_record *r);
/* The same of any other record that the parent adds to a child's log. A line that could not be
 * written is complained of; the stack has it all the same. */
void outcome_append(void *log, struct wc_record *r);
/* The same, but of a process that still runs, and numbers its records itself, only the stack gets
 * it. Both are for sinks, too: log is a struct source. */
void outcome_tell(void *log, struct wc_record *r);
/* A further line of a file that is there and was read, or is ours (NULL), or a new file with only
 * this line. False: errno, EEXIST where something has that name. */
bool outcome_write(const char *path, bool is_new, const struct log_file *read,
                   const struct wc_record *r);
/* Where it is kept of a command without a log. NULL: the place is not known. The caller frees. */
char *outcome_path(const struct log_place *place, int64_t child);
/* Leaves it there if the place of logs was named: then users look there for the reason. */
void outcome_leave(const struct log_place *place, struct wc_record *r, const char *reason);
