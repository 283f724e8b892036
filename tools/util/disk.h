/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system as core/ reads it: the machine's own, or a tree below another root (an image
 * unpacked somewhere, /proc/PID/root), in which absolute links point to that root. Only regular
 * files are ever opened to be read, so that no pipe or device can hold the command up.
 */
#pragma once

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>

#include "core/base/files.h"

extern const struct wc_files disk_files; /* of this machine */

/* From here on files are looked at with the rights of that user, and of the groups that it logs in
 * with: root may read all, and what it started as another user (setpriv, gosu, su) may not. No
 * effect for root, and of others than root. */
void disk_as_user(uid_t user);
void disk_as_self(void);

/* What is at a path in place of what the disk has there. */
struct disk_entry {
    enum { DISK_AS_IT_IS, DISK_GONE, DISK_FILE, DISK_LINK, DISK_DIRECTORY } kind;
    int fd;             /* of a file; the disk closes it */
    const char *target; /* of a link; lives as long as the entry */
};

struct disk {
    struct wc_files files;    /* its ctx points back here: the disk must not move */
    bool is_bare;             /* what was put over it does not count */
    struct disk_memory *seen; /* each path is looked at once: it counts as what it was then */
    char *root;               /* without a '/' at its end; "": the machine's own */
    struct below {
        int fd;     /* of the root, -1: files are opened by their whole path */
        size_t cut; /* length of its name */
    } below;
    /* Below the root, where relative paths begin; NULL: where ours do, "": not known. */
    const char *directory;
};

/* root: NULL or "/" is the machine's own. */
void disk_begin(struct disk *d, const char *root);
void disk_end(struct disk *d);

/* Files as a change would leave them. Such a path has no link in it and begins at the disk's root.
 */
void disk_put(struct disk *d, const char *path, struct disk_entry entry);
void disk_put_nothing(struct disk *d); /* all is again as it is */
struct disk_entry disk_layered(const struct disk *d, const char *path);

/* Opens a regular file to be read; d NULL: of this machine. Negative: errno says why (EISDIR,
 * EINVAL: another kind). */
int disk_open(const struct disk *d, const char *path, struct stat *facts);
/* At most `most` bytes of a regular file of this machine, and a NUL; *n: how many (NULL: not
 * wanted). NULL: errno. The caller frees. */
char *disk_text(const char *path, size_t most, size_t *n);
/* Where a link of this machine leads. NULL: errno. The caller frees. */
char *disk_link(const char *path);

/* The type of the file system that is mounted at a path, as this process sees it. NULL: none is, or
 * the root is another. Without a /proc there are none. */
const char *disk_mount(const struct disk *d, const char *path);

/* Of paths that begin with the root's name; b NULL: they are this machine's. */
DIR *below_list(const struct below *b, const char *path);
/* Up to n bytes of it from offset, less only at the end or after an error. */
size_t below_read(int fd, uint64_t offset, void *to, size_t n);

/* As glob(3), for the three as one path, but that nothing in the root's and directory's own names
 * means more than itself: a[1], {x}. Of what does not exist there is nothing. */
glob_t glob_below(const char *root, const char *directory, const char *pattern, int flags);
#define OWNED_GLOB __attribute__((cleanup(globfree)))
