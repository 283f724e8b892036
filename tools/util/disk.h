/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system as core/ reads it: the machine's own, or a tree below another root (an image
 * unpacked somewhere, /proc/PID/root), in which absolute links lead to that root. Only regular
 * files are ever opened to be read, so that no pipe or device can hold the command up.
 */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "core/base/files.h"

extern const struct wc_files disk_files; /* of this computer */

struct disk {
    struct wc_files files; /* its ctx points back here: the disk must not move */
    char *root;            /* without a '/' at its end; "": the machine's own */
    /* Below the root, where relative paths begin; NULL: where ours do, "": not known. */
    const char *directory;
};

/* root: NULL or "/" is the machine's own. */
void disk_begin(struct disk *d, const char *root);
void disk_end(struct disk *d);

/* Opens a regular file to be read; d NULL: of this computer. Negative: errno says why (EISDIR,
 * EINVAL: another kind). */
int disk_open(const struct disk *d, const char *path, struct stat *facts);
/* Up to n bytes from offset, less only at the end or after an error. */
size_t disk_read(int fd, uint64_t offset, void *to, size_t n);
