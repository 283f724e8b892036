/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is to print about one process: its stack, what diagnose() finds in the whole of it,
 * the verdict. Every renderer reads this and nothing else.
 */
#pragma once

#include "core/model/stack.h"
#include "tools/diagnose/verdict.h"
#include "tools/observe/log/source.h"
#include "tools/util/program.h"

/* ---- what is printed of one object in a few words, the same in every report ---- */

/* Canonical path, else the loader's, else the SONAME. Never NULL. */
const char *library_path(const struct wc_object_record *o);
/* "host", "facade", "graph", "cublasLt": its role, or which part or CUDA dependency it is. */
const char *library_label(const struct wc_object_record *o);
/* By which it is the same in another process: SONAME without directories, of a host the file's.
 * Never NULL. */
const char *library_name(const struct wc_object_record *o);
/* It requires cuDNN, or is of cuDNN or CUDA. */
bool library_counts(const struct wc_object_record *o);

/* How the loader found this very file; NULL: not known. */
const struct wc_search_record *library_search(const struct wc_stack *s,
                                              const struct wc_object_record *o);

/* The caller frees these; NULL where there is nothing to print. */
char *library_version(const struct wc_object_record *o); /* "9.1.0", "not older than 9.2.0" */
/* By which rule the loader found it, and in which element of the list that the rule reads. */
char *library_rule(const struct wc_search_record *found, bool element);
char *library_source(const struct wc_object_record *o);       /* "wheel NAME" */
char *library_installation(const struct wc_object_record *o); /* "wheel NAME VERSION" */

/* The texts with the separator between them; "": there are none. The caller frees. */
char *joined(const struct wc_strings *list, const char *separator);

struct plan;
struct redaction;
struct plan_of_finding;

struct report {
    const struct source *source;
    struct heap_arena memory; /* of the findings */
    struct wc_findings findings;
    struct wc_conclusion conclusion; /* the verdict, and what limits it */
    bool was_cut_off;                /* killed, by what it was in the middle of */
    char fingerprint[17];
    /* "killed by SIGSEGV, during cudnnCreate", "with status 1", "by exit"; and after the name of a
     * process: "ended with status 1". NULL: the source is not a log, nothing has ended. */
    const char *ending, *ended;
#define ENDED_NORMALLY "ended normally"
#define ENDED_BY_EXIT "exited" /* with which status only its parent has seen */
    const char *command;       /* of a user: the plan says what that does; NULL: none */
    struct plan *plan;         /* what repairs its findings; NULL: not requested */
    struct wc_strings gaps;    /* "line 3 could not be read: cut off": what the log lacks */
};

/* How processes ended whose logs do not say it, from what the other logs of their job say: sets
 * `end` of each. */
void ends_settle(struct source *const *processes, size_t n);

/* *r must not move until report_end. */
void report_make(struct report *r, const struct source *source);
void report_end(struct report *r);
/* What repairs its findings (tools/diagnose/plan.h); of a command's reports the first few with
 * findings are played. */
void report_plan(struct report *r);
/* Judges again a source whose names have been changed, and changes those of the plan: a repair is
 * played over the real ones. */
void report_redact(struct report *r, struct redaction *names);
/* Of one of its findings; none before report_plan. */
const struct plan_of_finding *report_fixes(const struct report *r,
                                           const struct wc_finding_record *f);
/* Findings and verdict again, of a source that knows more than before. */
void report_judge(struct report *r);
/* Of only the machine, as of each one without a GPU: screens print only its title. */
bool report_is_notice(const struct wc_finding_record *f);
enum exit_code report_exit_code(const struct report *r);

/* What --fail-on asks of all reports: .passes is true in the beginning. */
struct gate {
    enum wc_severity worst; /* of all findings */
    bool passes; /* as far as findings do not speak against it: all that matters was seen */
};
void gate_add(struct gate *gate, const struct report *r);
/* least: WC_severity_NONE where it was not requested; then it never holds. */
bool gate_fails(const struct gate *gate, enum wc_severity least);

/* Of several: errors outweigh what is unexplained, and that all else; not observed counts only
 * where it is so for each. */
enum exit_code exit_code_of_both(enum exit_code a, enum exit_code b);

/* ---- two of them next to each other ---- */

/* Two processes next to each other: what differs, cause first. For ranks of one run, and for runs
 * that should have been the same. What only one of the sources can know (a scan sees no calls) is
 * not compared, nor is what a lock does not say; only paths are not a difference. */
/* In the order of cause and effect. The last cannot lead the loader to another file. */
enum difference_kind {
    DIFFERENCE_ENVIRONMENT,  /* a variable that leads the loader or a framework */
    DIFFERENCE_PACKAGE,      /* a package of cuDNN: there, its version, its state */
    DIFFERENCE_HOST,         /* a host: there, what it requires */
    DIFFERENCE_FOUND,        /* by which rule a library was found, which installation it is of */
    DIFFERENCE_LIBRARY,      /* a library: there, its version, its build */
    DIFFERENCE_BINDING,      /* which host uses which library */
    DIFFERENCE_DRIVER,       /* the driver, the GPUs */
    DIFFERENCE_FAILURE,      /* what was requested without success */
    DIFFERENCE_CALL,         /* a call and its status */
    DIFFERENCE_SURROUNDINGS, /* the rest of the machine */
};

struct difference {
    enum difference_kind kind;
    const char *what;      /* "LD_LIBRARY_PATH", "libcudnn.so.9" */
    const char *attribute; /* "version", "rule"; NULL: what itself is there or not */
    const char *a, *b;     /* NULL: there is none on that side, or it is not known */
};

struct comparison {
    struct difference *p;
    size_t n;
    struct heap_arena memory; /* of their texts */
};

/* *c must not move until comparison_end. */
void compare(struct comparison *c, const struct source *a, const struct source *b);
void comparison_end(struct comparison *c);

/* Of "NAME=anything": the value there. NULL: it has none that is compared; some variables print
 * which process of a run it is, and so differ where all is well, and so does whether we observed.
 * The caller frees. */
char *compare_value(const struct wc_stack *s, const char *variable);

extern const struct difference_words {
    const char *word, *heading; /* "library"; "libraries", for people */
} difference_words[];
const char *difference_value(const char *value); /* NULL: "none"; "": "empty" */
/* "version of libcudnn.so.9: 9.1.0, not 9.8.0": what b has that a has not. The caller frees. */
char *difference_text(const struct difference *d);

/* ---- several as one ---- */

/* Reports of several processes as one: in the order of node, rank and process tree, and in groups
 * of those that agree, which is to print that they got the same libraries and show the same
 * findings. */
struct merged_process {
    struct report *report;
    const char *node; /* NULL: not known */
    int64_t rank;     /* WC_NULL: none */
    size_t parent;    /* index of the process that started it; MERGED_NONE */
    int depth;        /* below a process without parent */
    size_t group;
};
#define MERGED_NONE SIZE_MAX

struct merged_group {
    size_t *members, n;            /* indices of processes; the first means all */
    char *who;                     /* "ranks 0-6", "process 4711" */
    struct comparison differences; /* to the first group; empty there */
};

/* One answer about all of them: each finding once, the worst first, with those that have it; then
 * which processes were fine, and with which cuDNN. */
struct summary_row {
    const struct wc_finding_record *finding; /* NULL: the row is of a verdict */
    const struct report *report;             /* of the first process that has it */
    size_t *members;                         /* n indices of processes */
    size_t n;
    int weight;   /* the worst first */
    size_t place; /* among the findings of its process: cause first */
    bool told;    /* it has been printed already: the caller's */
};

struct merged {
    struct merged_process *p;
    size_t n;
    WC_LIST(merged_group, groups); /* the largest first */
    bool ranks_name;               /* each rank is there once */
    WC_LIST(summary_row, rows);    /* at least one */
    size_t counted;                /* processes that loaded cuDNN or asked for it */
};

/* The reports must outlive it. n at least 1. */
void merge(struct merged *m, struct report *reports, size_t n);
void merged_end(struct merged *m);

/* "ranks 0-6 agree; rank 7 differs": one line for a group after the first, and one for the first
 * only where all agree. i: of the group. The caller frees. */
char *merged_agreement(const struct merged *m, size_t i);

/* "13 processes (python3 train.py): 1 ended normally, 12 by _exit", "ranks 0, 1"; NULL: there is
 * except the requested one. The caller frees it. */
char *summary_who(const struct merged *m, const struct summary_row *row);
/* The same without that word, for a row of its own: "13 (python3 train.py): ..."; of one process
 * "4711 on node7: python3 train.py, by _exit". The caller frees it. */
char *summary_processes(const struct merged *m, const struct summary_row *row);
