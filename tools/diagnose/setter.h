/* SPDX-License-Identifier: Apache-2.0 */
/* What starts a process with another value of a variable than `run` gave the command. */
#pragma once

#include "core/model/stack.h"

struct setter {
    const char *by;     /* for a sentence; NULL: nothing does, or that is not known */
    const char *file;   /* whose line it is; NULL: of no line, or of more than one */
    const char *change; /* for sed, up to where the assignment is written; NULL: by hand */
};

/* In the files that a script names, and in those that they name. The process has `value`, the
 * command was given `given`; NULL: none. */
struct setter setter_in(struct wc_arena *memory, const char *script, const char *directory,
                        const char *name, const char *value, const char *given);
/* pid: of the process. */
struct setter setter_of(struct wc_arena *memory, const struct wc_stack *s, int64_t pid,
                        const char *name);
