/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern below a directory.
 */
#pragma once

#include <glob.h>

/* As glob(3), for directory and pattern as one path, but that nothing in the directory's own name
 * means more than itself: a[1], {x}. Where it returns 0, the caller calls globfree(). */
int glob_below(const char *directory, const char *pattern, int flags, glob_t *found);
