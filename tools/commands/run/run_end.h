/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a command under `run`: what it left in its logs, and what is printed of it.
 */
#pragma once

#include "run_monitor.h"
#include "supervise.h"
#include "tools/observe/preload.h"
#include "tools/report/report.h"
#include "words.h"

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

/* Adds the end to the command's log, says what was found, writes the verdict. */
struct gate run_conclude(struct run *run);
/* The same of a command that could not be started. */
void run_not_started(const struct run *run);
/* One line into run->verdict_file, if it is wanted; a failure is complained of. */
void run_leave_verdict(const struct run *run, const char *words);
