/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every library-like file and every program below a directory. Links to directories are not
 * followed, so that the walk ends; nor does it go into file systems that are not on disk: /proc,
 * /sys, what is on other machines.
 */
#pragma once

#include "tools/util/disk.h"

enum tree_entry { TREE_LIBRARY, TREE_LINK, TREE_PROGRAM };

struct tree_walk {
    const struct disk *disk;
    /* A regular file, or a link, whose name looks like a shared library's, or a regular file that
     * may be executed. path is inside of the disk's root; at: the directory, open, and the name in
     * it. */
    void (*file)(void *ctx, const char *path, int at, const char *name, enum tree_entry entry);
    void (*directory)(void *ctx, const char *path); /* that is read; NULL: not wanted */
    void (*trouble)(void *ctx, const char *path, const char *why); /* it is skipped */
    /* Between directories: of how many that are known, how many are done. NULL: not wanted. */
    void (*progress)(void *ctx, size_t done, size_t known);
    void *ctx;
    size_t files; /* entries seen */
};

/* False: the directory itself cannot be read (errno). */
bool tree_walk(struct tree_walk *w, const char *directory);
