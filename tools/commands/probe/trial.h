/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child whose output is kept, for what may fail or not come back.
 */
#pragma once

#include <stdbool.h>

struct trial {
    const char *program;        /* a path; NULL: this very program */
    char *const *arguments;     /* NULL at the end; the first is the name */
    void (*prepare)(void *arg); /* in the child, before exec: its environment; NULL: nothing */
    void (*instead)(void);      /* in the child, of exec; NULL: it is */
    void *arg;
    int patience; /* seconds; then it is killed; 0: it is waited for */

    /* What came of it; texts are ended by trial_end. */
    char *output, *errors; /* standard output and standard error, what fits into 64 KiB of each */
    int status;            /* as waitpid gives it */
    bool timed_out;
};

/* False: no process could be made (errno). */
bool trial_run(struct trial *t);
void trial_end(struct trial *t);

/* "PATH: " and what errno is. The caller frees. */
char *trouble_of(const char *path);
/* A file or directory with all below it, by cp(1): nothing is shared with `from`. NULL: done; else
 * what cp said, which the caller frees. */
char *copy_tree(const char *from, const char *to);

/* For `prepare`: has the process watched, with its log there and nothing said. */
void trial_watch(const char *preload, const char *log);

/* A directory that only this user can look into, for what a trial writes. NULL: none can be
 * made (errno). The caller frees it with trial_directory_end, which removes what is in it. */
char *trial_directory(void);
void trial_directory_end(char *directory);
/* All below, without going into another file system. */
void remove_tree(const char *path);
