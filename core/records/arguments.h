/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log keeps of a command line: the program, and the script or module that it runs. Options
 * and their values, code, and what a script is given are somebody's own.
 */
#pragma once

#include "core/base/base.h"

struct wc_arguments {
    const char *line; /* as /proc/PID/cmdline has it, with a NUL behind */
    size_t size;
    const char *executable; /* NULL: not known */
    bool whole;             /* all of it is wanted */
};
/* At most `most` texts, of the line or constants. Returns how many. */
size_t wc_arguments_keep(const struct wc_arguments *from, const char **out, size_t most);
