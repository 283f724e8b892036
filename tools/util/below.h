/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files below a root by openat2(RESOLVE_IN_ROOT): whatever is exchanged meanwhile, no link leads
 * out of it. Where the kernel is older than 5.6, or a sandbox refuses openat2: by their whole path.
 */
#pragma once

#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct below {
    int fd;     /* of the root, -1: by their whole path */
    size_t cut; /* length of its name */
};

/* root: "" is the machine's own. */
void below_begin(struct below *b, const char *root);
void below_end(struct below *b);

/* Paths begin with the root's name. b NULL: they are this machine's. */
int below_open(const struct below *b, const char *path, int flags);
DIR *below_list(const struct below *b, const char *path);
bool below_lstat(const struct below *b, const char *path, struct stat *facts);
/* Up to n bytes of it from offset, less only at the end or after an error. */
size_t below_read(int fd, uint64_t offset, void *to, size_t n);
/* As readlink. */
ssize_t below_readlink(const struct below *b, const char *path, char *to, size_t cap);

/* As glob(3), for the three as one path, but that nothing in the root's and directory's own names
 * means more than itself: a[1], {x}. Of what does not exist there is nothing. */
glob_t glob_below(const char *root, const char *directory, const char *pattern, int flags);
#define OWNED_GLOB __attribute__((cleanup(globfree)))
