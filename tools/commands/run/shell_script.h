/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs a command starts, as far as the text of its scripts says it, and with which
 * variables. Nothing is run: what only a shell can know (the output of commands, `module load`) is
 * unknown, and so is what it may change.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct shell_program {
    char *path;
    char **environment; /* NAME=value, NULL at the end */
    bool by_script;     /* false: it is the command itself, or an argument of a program */
    bool sure;          /* by a script that got as far as to it: it is started in any case */
    bool passed_over;   /* and its script goes on, however it ends */
};
struct shell_programs {
    struct shell_program *p; /* as they are started; those with unknown variables are left out */
    size_t n;
};

/* environment: of the command. */
void shell_programs_of(struct shell_programs *out, char *const *command, char *const *environment);
void shell_programs_end(struct shell_programs *programs);
