/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an argument of a subcommand names: a log, a directory of logs, a lock, a running process;
 * and what it reports.
 */
#pragma once

#include "tools/diagnose/plan.h"
#include "tools/observe/log/redact.h"
#include "tools/observe/scan/scan.h"
#include "tools/report/report.h"

/* A number of a process; false: it is none. */
bool input_read_pid(const char *text, int64_t *pid);

struct inputs {       /* all zero: none yet */
    struct logs logs; /* what was read, however */
    char **troubles;  /* "PATH: why it could not be read" */
    size_t trouble_count;
    struct scan scan;  /* what it knows of libraries its processes are replayed with */
    bool may_be_empty; /* a directory without logs is not an error */
};

/* One reading: adds what the n logs, directories of logs or locks hold. Images of one process are
 * joined within it; sources of earlier readings neither move nor change. False: something could not
 * be read, and is among the troubles; the rest is there. */
bool input_read_files(struct inputs *s, char *const *arguments, size_t n);
/* The same; a number is a running process, and after a path ":PID" takes only that process. NULL:
 * the newest log of this user. */
bool input_read(struct inputs *s, char *argument);
/* Adds what environments, programs or libraries would get: paths, NULL at the end. */
void input_scan(struct inputs *s, char *const *paths);
/* The words of `whichcudnn run --quiet --log PLACE -- COMMAND...`, a NULL behind. The caller frees
 * the list. */
char **run_quietly(char *place, char **command);
/* Runs the command as `run --quiet` does, for logs in a new directory in that one, which are read.
 * Returns its status; -1: the directory cannot be made (errno). */
int input_observe(struct inputs *s, char *const *command, const char *directory);
/* The newest log of this user, whose path the caller frees. NULL: there is none, which was
 * complained of. */
char *input_read_newest(struct inputs *s);
/* The one process that the argument names. NULL: there is none, or more than one, and that was
 * complained of. It lives as long as the inputs, whatever is read later. */
struct source *input_read_one(struct inputs *s, char *argument);
void inputs_complain(const struct inputs *s);
void inputs_end(struct inputs *s);

/* ---- one answer about all of them ---- */

struct job {
    struct inputs in;    /* read before */
    const char *command; /* of a user, which is checked; NULL: none */
    /* Of which processes what repairs them is asked for. */
    enum { PLAN_ALL, PLAN_ALL_BUT_LOCKS, PLAN_NONE } plans;
    struct redaction *names; /* by which texts are changed, ended with it; NULL: as they are */
    struct report *reports;
    size_t n; /* 0: nothing was read; then there is nothing of the following */
    struct merged merged;
    struct {
        const struct summary_row **p;
        size_t n;
    } found;               /* the rows that have a finding, the worst first */
    enum exit_code answer; /* as that of `report` */
};

/* The reports and the answer; with other names, where these are wanted. */
void job_judge(struct job *j);
/* And what they have in common. */
void job_make(struct job *j);
void job_end(struct job *j);
