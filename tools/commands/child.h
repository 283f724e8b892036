/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children: one that is run to its end, in our own process group and on our terminal, with signals
 * handed on; and one whose output is kept, for what may fail or not come back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    int status;     /* as waitpid gives it */
    int exec_error; /* errno of exec; 0: it was started */
    int asked;      /* the last signal that ends processes and came while it ran; 0: none */
};

struct supervision {
    void (*prepare)(void *arg); /* called in the child before exec; NULL: nothing */
    int (*instead)(void *arg);  /* or in place of it: the child's status; NULL: exec */
    /* Called while the child lives: whenever something happened, `readable` is readable, or the
     * time that it asked for is over. Returns the milliseconds after which it requires to be called
     * again, -1: only then. NULL: nothing waits. */
    int (*meanwhile)(void *arg, pid_t child, bool is_readable);
    void (*ended)(void *arg, pid_t child); /* when it has, before it is waited for */
    void (*stops)(void *arg);              /* when it stands still, before we do; NULL: nothing */
    bool
        whole_group; /* without a terminal, which signals all: it is signalled with all it starts */
    bool holds;      /* after the child's end signals stay held back in the caller */
    const int *readable; /* a descriptor, -1: none at the moment */
    void *arg;
};

/* False: no child could be made (errno, and exec_error), and signals are as they were. argv is
 * searched for in PATH. What was printed before is written first. */
bool supervise(char **argv, const struct supervision *with, struct child *out);
/* In place of a supervise() that cannot go on: its child is waited for, and no more. */
void supervise_rest(struct child *child);

/* Exit code of a shell for such an end: status, 128 + signal, 127 not found, 126 not started. */
int child_exit_code(const struct child *child);

/* ---- with its output kept ---- */

struct trial {
    const char *program;        /* a path; NULL: this very program */
    char *const *arguments;     /* NULL at the end; the first is the name */
    void (*prepare)(void *arg); /* in the child, before exec: its environment; NULL: nothing */
    int (*instead)(void *arg);  /* in the child, of exec: its status; NULL: exec */
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
void trial_directory_end(char **directory);
/* Does the disk of that path have fewer bytes left? */
bool has_little_room(const char *path, uint64_t bytes);
/* All below, without going into another file system. */
void remove_tree(const char *path);
