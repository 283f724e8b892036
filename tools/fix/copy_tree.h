/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory once more, with its own files: none is shared, so that what is written into one
 * changes nothing of the other. Blocks are, where the file system can.
 */
#pragma once

#include <stdbool.h>

/* to: not there yet. False: errno, and *at (the caller frees) is what could not be copied. */
bool copy_tree(const char *from, const char *to, char **at);
