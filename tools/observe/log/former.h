/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of version 3, the former one: a path could be written by that of an earlier line, and what
 * was usual was left out. This release still reads them; the next one need not, and drops this
 * file.
 */
#pragma once

#include <jansson.h>

#define FORMER_VERSION 3
#define FORMER_PATHS 512

/* What earlier lines of the same process said. All zero: there are none. */
struct former {
    json_int_t pid, time; /* pid 0: no line yet */
    json_t *paths;        /* by the numbers of their lines; NULL: none yet */
};

/* Makes a line of version 3 one of this version; leaves others as they are. */
void former_complete(struct former *before, json_t *line);
void former_end(struct former *before);
