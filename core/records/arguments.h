/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log keeps of a command line: the program, and the script or module that it runs.
 * Options, their values, code, and arguments of the script may be private.
 */
#pragma once

#include "core/base/base.h"

struct wc_arguments {
    const char *line; /* as /proc/PID/cmdline has it, with a NUL behind */
    size_t size;
    const char *executable; /* NULL: not known */
    bool whole;             /* keep all arguments (WHICHCUDNN_ARGV=1) */
};
/* Puts at most `most` texts into out, which point into the line or are constants. Returns how many.
 */
size_t wc_arguments_keep(const struct wc_arguments *from, const char **out, size_t most);
