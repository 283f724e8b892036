/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `outcome` record: how the child of `run` ended, as only its parent knows it.
 */
#pragma once

#include <sys/types.h>

#include "supervise.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/preload.h"

/* The record of what the parent saw; observed false, reason NULL. signal_name is a constant. */
void outcome_begin(struct wc_record *r, const struct child *child);
/* Completes it from the child's own log, appends it there and applies it to that stack. A reason is
 * one why that log is not the child's. */
void outcome_add(struct source *own, struct wc_record *r);
/* The same of any other record that the parent adds to a child's log. A line that could not be
 * written is complained of; the stack has it all the same. */
void outcome_append(struct source *log, struct wc_record *r);
/* The same for a sink, of a struct source: of a process that still runs, and numbers its records
 * itself, only the stack gets it. */
void outcome_tell(void *log, struct wc_record *r);
/* A further line of a file that is there and was read, or is ours (NULL), or a new file with only
 * this line. False: errno, EEXIST where something has that name. */
bool outcome_write(const char *path, bool is_new, const struct log_file *read,
                   const struct wc_record *r);
/* Where it is kept of a command without a log. NULL: the place is not known. The caller frees. */
char *outcome_path(const struct log_place *place, int64_t child);
/* Leaves it there if the place of logs was named: then users look there for the reason. */
void outcome_leave(const struct log_place *place, struct wc_record *r, const char *reason);
