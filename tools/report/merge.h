/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of several processes as one: in the order of node, rank and process tree, and in groups
 * of those that agree, which is to print that they got the same libraries and show the same
 * findings.
 */
#pragma once

#include <jansson.h>

#include "compare.h"
#include "report.h"

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

struct merged {
    struct merged_process *p;
    size_t n;
    struct merged_group *groups; /* the largest first */
    size_t group_count;
    bool ranks_name; /* each rank is there once */
};

/* The reports must outlive it. n at least 1. */
void merge(struct merged *m, struct report *reports, size_t n);
void merged_end(struct merged *m);

/* "ranks 0-6 agree; rank 7 differs": one line for a group after the first, and one for the first
 * only where all agree. i: of the group. The caller frees. */
char *merged_agreement(const struct merged *m, size_t i);

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

struct summary {
    const struct merged *m; /* must outlive it */
    struct summary_row *rows;
    size_t n;       /* at least one */
    size_t counted; /* processes that loaded cuDNN or asked for it */
};

void summary_make(struct summary *s, const struct merged *m);
void summary_end(struct summary *s);

/* "13 processes (python3 train.py): 1 ended normally, 12 by _exit", "ranks 0, 1"; NULL: there is
 * except the requested one. The caller frees it. */
char *summary_who(const struct summary *s, const struct summary_row *row);
/* The same without that word, for a row of its own: "13 (python3 train.py): ..."; of one process
 * "4711 on node7: python3 train.py, by _exit". The caller frees it. */
char *summary_processes(const struct summary *s, const struct summary_row *row);
