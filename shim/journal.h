/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of this process, its log, and its findings. All functions need the shim's lock; none
 * calls the loader.
 */
#pragma once

#include "core/model/stack.h"

struct wc_stack *journal_stack(void);

/* Numbers for object and request records, from 1. */
int64_t journal_new_object(void);
int64_t journal_new_request(void);

/* Does this very process have a log? A forked child has none until something relevant happens.
 * Needs no lock. */
bool journal_is_open(void);
/* Creates the log and writes the records of process and machine, and in a forked child a snapshot
 * of the model. Does nothing if the log exists or cannot be created. */
void journal_open(void);
/* The same, but only in the process that `whichcudnn run` started. */
void journal_open_if_eager(void);
/* The same, and the log stays: without this call it is removed at exit, as the process did not use
 * cuDNN. */
void journal_open_relevant(void);

/* Fills in the common keys, applies the record to the model, and writes its line if the log is
 * open. time 0: now. */
void journal_add(struct wc_record *r);
extern const struct wc_sink journal_sink; /* the same, for core/records/emit.h */
/* Counts a request or a failure that is not written, for the summary; -1: it is written after all.
 */
void journal_leave_out(enum wc_kind kind, int n);
/* One `unobserved` record per what and path. */
void journal_unobserved(const char *what, const char *why, const char *path);

/* Runs wc_diagnose_live() if the model changed, and writes findings that are new or changed. */
void journal_diagnose(void);
/* The same, but if there are many records only after an eighth more of them. */
void journal_diagnose_if_due(void);
/* At a normal end: the summary. */
void journal_close(void);
/* Clears the model, which may be half changed: this process was forked meanwhile. */
void journal_forget(void);
