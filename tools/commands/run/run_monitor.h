/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `run` does about findings while its command still runs: says the errors among them, or ends
 * the command. A command that ends by itself soon after is left to the words at its end.
 */
#pragma once

#include <jansson.h>

#include "family.h"

struct run;

struct run_monitor {
    const struct run *run;
    bool stop, print;  /* what is wanted */
    bool preload_gone; /* when last looked at, the command had it no longer */
    bool stopped;      /* the command was ended by us */
    struct family family;
    int readable;                                 /* where logs that grow show, -1: nowhere */
    int64_t look_at, watch_at, judge_at, kill_at; /* 0: not at all */
    int64_t look_after;
    int64_t judge_after;       /* not before that again */
    json_t *told;              /* titles, as keys */
    struct held_process *held; /* that are to end with the command */
    size_t held_count;
};

/* m->stop is the caller's, the rest zero. */
void run_monitor_begin(struct run_monitor *m, const struct run *run);
/* As `meanwhile` of struct supervision; arg is the struct run_monitor. */
int run_monitor_check(void *arg, pid_t child, bool is_readable);
/* As `ended` of it. */
void run_monitor_look_last(void *arg, pid_t child);
/* Has the finding of this title been printed already? */
bool run_monitor_reported(const struct run_monitor *m, const char *title);
/* From now on it has. */
void run_monitor_report(struct run_monitor *m, const char *title);
void run_monitor_end(struct run_monitor *m);
