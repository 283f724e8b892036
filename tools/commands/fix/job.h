/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What logs tell of a command, with what repairs it: one answer about all of its processes.
 */
#pragma once

#include "tools/commands/input.h"
#include "tools/diagnose/plan.h"
#include "tools/report/summary.h"

struct job {
    struct inputs in; /* read before */
    struct report *reports;
    size_t n; /* 0: nothing was read; then there is nothing of the following */
    struct merged merged;
    struct summary summary; /* the worst first */
    enum exit_code answer;  /* as that of `report` */
};

void job_make(struct job *j);
void job_end(struct job *j);

/* What repairs the finding of a row, the cheapest first. */
struct plan_of_finding *job_repairs(const struct summary_row *row);
/* The first row with a repair that can be made by commands and variables; NULL: none has. */
const struct summary_row *job_first_to_repair(const struct job *j);
/* The cheapest of its repairs that can; NULL: none. */
struct repair *job_best_repair(const struct summary_row *row);
/* "9.8.0, 9.1.0" of all processes; "": none was loaded. The caller frees. */
char *job_versions(const struct job *j);
/* The status that the command ended with, as `run` wrote it down; -1: not known. */
int job_status(const struct job *j);
