/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read-only access to files for core/, by functions of the caller. Those of the shim make raw
 * system calls; those of the command may also read below another root, or through an overlay.
 */
#pragma once

#include "base.h"

struct wc_file_stat {
    uint64_t device, inode, size;
    int64_t mtime; /* seconds */
    bool regular, directory;
    bool closed; /* facts() failed because a directory of the path may not be entered */
};

struct wc_files {
    void *ctx;
    /* Up to cap bytes from offset; *n: how many were there. False: cannot be read. */
    bool (*read)(void *ctx, const char *path, uint64_t offset, void *to, size_t cap, size_t *n);
    /* As stat, which follows links. False: there is no such file, or out->closed. */
    bool (*facts)(void *ctx, const char *path, struct wc_file_stat *out);
    /* Calls each(arg, name) for every entry but . and .. until it returns false. */
    bool (*list)(void *ctx, const char *dir, bool (*each)(void *arg, const char *name), void *arg);
    /* Canonical path into to (cap bytes). False: not there, or it does not fit. */
    bool (*real_path)(void *ctx, const char *path, char *to, size_t cap);
    /* May be NULL. Puts the result of wc_reading_find() (reading.h) into *at without reading the
     * file. False: the file has to be read. */
    bool (*find)(void *ctx, const char *path, uint64_t from, const char *text, bool at_line,
                 uint64_t *at);
    /* May be NULL. Has dir certainly no entry that ends in ".dist-info"? False: list it. */
    bool (*no_dist_info)(void *ctx, const char *dir);
};

static inline bool wc_is_directory(const struct wc_files *files, const char *path) {
    struct wc_file_stat facts;

    return files->facts(files->ctx, path, &facts) && facts.directory;
}

/* Do both paths point to one file or directory? */
static inline bool wc_is_same_file(const struct wc_files *files, const char *one,
                                   const char *other) {
    struct wc_file_stat a, b;

    return files->facts(files->ctx, one, &a) && files->facts(files->ctx, other, &b) &&
           a.device == b.device && a.inode == b.inode;
}
