/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child run to its end, in our own process group and on our terminal, with signals handed on.
 */
#pragma once

#include <stdbool.h>
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
