/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory once more, with its own files: none is shared, so that what is written into one
 * changes nothing of the other. Blocks are, where the file system can.
 */
#pragma once

#include <stdbool.h>

/* to: not there yet. False: errno, and *at (the caller frees) is what could not be copied. With
 * by_links files are shared where possible, what is there already stays, and what a repair has
 * saved before is left out. */
bool copy_tree(const char *from, const char *to, bool by_links, char **at);
