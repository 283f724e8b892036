/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `run` knows of its command, and what its parts share: the processes of the command and their
 * logs, what it prints, what is done about findings while it runs, and at its end.
 */
#pragma once

#include <jansson.h>
#include <termios.h>

#include "tools/commands/child.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/preload.h"
#include "tools/report/explain/explain.h"
#include "tools/report/report.h"

/* ---- its processes (run_monitor.c) ---- */

struct relative {
    pid_t pid;
    uid_t user;
    char *library; /* of cuDNN, that it has mapped */
};

/* The command that `run` started and its descendants, as /proc shows them while they live: whose
 * logs are theirs, which may be signalled, and which had cuDNN. A log proves nothing of that: in
 * a shared directory any user can leave one. */
struct family {
    uid_t *users; /* ours and theirs */
    size_t user_count;
    WC_LIST(relative, with_cudnn);
    uid_t last_user;    /* of the command itself */
    char last_name[16]; /* what the kernel calls it; "": never looked at */
    char *seen_program; /* that it ran when it was looked at and had our library; NULL */
    char seen_name[16]; /* what it was called then */
};

bool family_has_user(const void *family, uid_t user);
/* What the kernel calls a process is its program's name, or its script's, until it takes another
 * one: had the command that name at its end? */
bool family_is_last(const struct family *f, const char *path);

/* ---- their logs (child_logs.c) ---- */

/* The logs that a child of `run`, and what it started, has left; and the `outcome` record in them:
 * how the child ended, as only its parent knows it. */
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

/* ---- what it prints (words.c) ---- */

/* What the command printed, where `run` can read it, as evidence: versions and statuses become
 * records of the logs, other messages that are known are reported with an end that nothing
 * explains. */
#define WORDS_LINES 3 /* messages that are reported */

struct words {
    struct words_stream {
        int to, also; /* a descriptor of ours; another for the same, -1 */
        bool is_file, is_copied;
        int64_t begin;        /* of a file: of what the command appends */
        int from, end;        /* that a copier reads; that the command gets in place of `to` */
        int talk;             /* a socket to the copier */
        bool is_terminal;     /* else a pipe */
        struct termios modes; /* of `end`, as they were last */
        struct kept *kept;    /* its last part; NULL: it was not read */
        struct messages found;
    } of[2];                    /* standard error; standard output, unless it is the same */
    bool were_read, name_cudnn; /* a library of cuDNN is named in what was recognized */
    bool in_turn;               /* the command is a script that ends at the first failure */
    char *stopped;              /* the last program that the loader says it could not start; NULL */
    char *lines[WORDS_LINES + 1]; /* "standard error, line 3: ...", a NULL behind */
    size_t line_count;
};

/* Before the command is started. With `copies`, pipes and terminals get a copier. */
void words_begin(struct words *w, bool copies);
/* In the command, before exec. */
void words_enter(const struct words *w);
/* When the command was started: `run` keeps no end of its streams. */
void words_leave(struct words *w);
/* Returns when all that was printed until now has been copied: as long as the reader takes, for
 * which the command itself would wait. */
void words_settle(const struct words *w);
/* After its end: what it printed, and what is recognized in it. */
void words_read(struct words *w);
/* The script started another program later, as it does only where this one ended well. */
bool words_ended_well(const struct words *w, struct source *const *logs, size_t n,
                      const struct source *log);
/* Records for the logs of which these are the reports, which are judged again. What contradicts the
 * only log is complained of, unless `quiet`. */
void words_into_logs(const struct words *w, struct source **logs, struct report *reports, size_t n,
                     bool quiet);
void words_end(struct words *w);

/* ---- all of it ---- */

/* Says the errors among the findings, or ends the command. A command that ends by itself soon after
 * is left to the words at its end. */
struct run_monitor {
    const struct run *run;
    bool stop;         /* at an error; else errors are said */
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
