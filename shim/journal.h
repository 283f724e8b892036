/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of this process (the model), what was written of it (the log), and what was found.
 * All functions want the shim's lock held; none calls the loader.
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
/* Something relevant happened: creates the log, with process and machine first (in a forked child a
 * snapshot of the model, too). Nothing if it is there or cannot be made. */
void journal_open(void);
/* The same, in the process that `whichcudnn run` started. */
void journal_open_if_eager(void);
/* Also marks the process as one that has to do with cuDNN: an eager log stays. */
void journal_open_relevant(void);

/* Fills the common keys, takes the record into the model and writes its line if the log is open.
 * time 0: now. */
void journal_add(struct wc_record *r);
extern const struct wc_sink journal_sink; /* the same, for core/records/emit.h */
/* A request or a failure that is not written, counted in the summary; -1: it is, after all. */
void journal_leave_out(enum wc_kind kind, int n);
/* One `unobserved` record per what and path. */
void journal_unobserved(const char *what, const char *why, const char *path);

/* Runs diagnose() if the model changed since, and writes the findings that are new or changed. */
void journal_diagnose(void);
/* The same once enough has changed: at each record of few, at an eighth more of many. */
void journal_diagnose_if_due(void);
/* At a normal end: the summary. */
void journal_close(void);
/* The model may be half changed (a fork in the middle): begin anew. */
void journal_forget(void);
