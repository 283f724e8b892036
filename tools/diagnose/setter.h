/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What starts a process with another value of a variable than `run` gave the command, or installs
 * another release of a package before.
 */
#pragma once

#include "core/model/stack.h"

struct setter {
    const char *by;     /* for a sentence; NULL: nothing does, or that is not known */
    const char *file;   /* with that line; NULL: there is none, or more than one */
    const char *change; /* for sed, a line's end for the value; NULL: sed cannot */
};

/* Whatever the value, in files (a list with ":"), in those that they name, and so on. */
struct setter setter_in(struct wc_arena *memory, const char *files, const char *directory,
                        const char *name);
/* The process has `value`, the command was given `given` (NULL: none), in the files with which
 * shells, and an environment as it is activated, begin. */
struct setter setter_at_start(struct wc_arena *memory, const struct wc_stack *s, const char *name,
                              const char *value, const char *given);
/* pid: of the process. */
struct setter setter_of(struct wc_arena *memory, const struct wc_stack *s, int64_t pid,
                        const char *name);
/* The line of a script that starts the process, and others as well, which would get the user's
 * value, too. by: NULL: no line can be changed; then file: that script; NULL: there is none. */
struct setter setter_of_start(struct wc_arena *memory, const struct wc_stack *s, const char *name);
/* The line of a script that starts the process. by: NULL: none is, or it cannot be changed.
 * *others: the script that starts another program as well; NULL: none does. others may be NULL. */
struct setter setter_of_program(struct wc_arena *memory, const struct wc_stack *s, const char *name,
                                const char **others);
/* Is it the program itself, which then starts itself again? By what it has put there. */
bool setter_is_itself(const struct wc_stack *s, const char *value);
/* In the command's scripts, whatever the line does with it. */
bool setter_is_named(struct wc_arena *memory, const struct wc_stack *s, const char *name);
/* The line with that text, which is a requirement: `name` and a release of it. */
struct setter setter_of_pin(struct wc_arena *memory, const struct wc_stack *s, const char *name,
                            const char *release);
