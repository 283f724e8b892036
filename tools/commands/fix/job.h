/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What logs report about a command, with what repairs it: one answer about all of its processes.
 */
#pragma once

#include "tools/commands/input.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/redact.h"
#include "tools/report/summary.h"

struct job {
    struct inputs in;        /* read before */
    const char *command;     /* of a user, which is checked; NULL: none */
    bool unplanned;          /* what repairs it is not asked for */
    struct redaction *names; /* by which texts are changed, ended with it; NULL: as they are */
    struct report *reports;
    size_t n; /* 0: nothing was read; then there is nothing of the following */
    struct merged merged;
    struct summary summary;
    struct {
        const struct summary_row **p;
        size_t n;
    } found;               /* its rows that have a finding, the worst first */
    enum exit_code answer; /* as that of `report` */
};

/* The reports and the answer; with other names, where these are wanted. */
void job_judge(struct job *j);
/* And what they have in common. */
void job_make(struct job *j);
void job_end(struct job *j);

/* Of the first finding that has one: its cheapest repair that can be made by commands and
 * variables; played: and that was replayed. NULL: there is none. row: whose; NULL: not wanted. */
const struct repair *job_best_repair(const struct job *j, bool played,
                                     const struct summary_row **row);
/* "9.8.0, 9.1.0" of all processes; "": none was loaded. The caller frees. */
char *job_versions(const struct job *j);
