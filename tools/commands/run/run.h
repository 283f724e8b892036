/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `run` knows of its command; what it does about findings while that still runs, and at its
 * end: what the command left in its logs, and what is printed of it.
 */
#pragma once

#include <jansson.h>

#include "family.h"
#include "supervise.h"
#include "tools/observe/preload.h"
#include "tools/report/report.h"
#include "words.h"

/* Says the errors among the findings, or ends the command. A command that ends by itself soon after
 * is left to the words at its end. */
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
    json_t *told;              /* titles of findings that were printed, as keys */
    struct held_process *held; /* that are to end with the command */
    size_t held_count;
};

struct run {
    const char *command;
    char **words;         /* the command, and its arguments */
    char *shim, *preload; /* its path; LD_PRELOAD of the command */
    int64_t start;        /* microseconds since the epoch */
    struct log_place place;
    struct child child;
    struct run_monitor live;
    struct words printed;              /* by the command */
    const char *expect, *verdict_file; /* NULL: none */
    bool quiet, unsure;                /* unsure: what its script starts */
};

/* m->stop is the caller's, the rest zero. */
void run_monitor_begin(struct run_monitor *m, const struct run *run);
/* As `meanwhile` of struct supervision; arg is the struct run_monitor. */
int run_monitor_check(void *arg, pid_t child, bool is_readable);
/* As `ended` of it. */
void run_monitor_look_last(void *arg, pid_t child);
void run_monitor_end(struct run_monitor *m);

/* Adds the end to the command's log, says what was found, writes the verdict. */
struct gate run_conclude(struct run *run);
/* The same of a command that could not be started. */
void run_not_started(const struct run *run);
/* One line into run->verdict_file, if it is wanted; a failure is complained of. */
void run_leave_verdict(const struct run *run, const char *words);
