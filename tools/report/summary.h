/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One answer about several processes: each finding once, the worst first, with those that have it;
 * then which processes were fine, and with which cuDNN.
 */
#pragma once

#include "merge.h"

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
