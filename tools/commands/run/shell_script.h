/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs a command starts, as far as its scripts name them one after another. Nothing is
 * run. After the first thing that only a shell could follow (a branch, functions, `eval`,
 * `module load`) nothing of a script is read: it is unsure.
 */
#pragma once

#include "tools/util/memory.h"

struct shell_program {
    const char *path;
    char *const *environment; /* NAME=value, NULL at the end */
    bool by_script;           /* false: it is the command itself, or an argument of a program */
    bool passed_over;         /* its script goes on, however it ends */
    bool is_tested;           /* by `if`, `while`, `!` or "||" */
    bool is_muted;            /* what it prints on standard error is discarded */
};
struct shell_programs {
    struct shell_program *p; /* as they are started */
    size_t n;
    bool unsure;  /* there may be more */
    bool in_turn; /* one after another: none in a pipe or in the background */
    struct heap_arena memory;
};

/* environment: of the command. */
void shell_programs_of(struct shell_programs *out, char **command, char **environment);
void shell_programs_end(struct shell_programs *programs);
