/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is made under another name, and takes its own once it is whole. What ends the program
 * meanwhile removes it; what SIGKILL left is removed by the next writer of that file ten minutes
 * later. A limit of sizes is an error, not a signal. One at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct beside {
    char *path; /* begins with a dot and ends otherwise: readers of a directory skip it */
    int fd;
};

/* For the file `path`, in its directory. False: errno, and there is nothing to end. */
bool beside_begin(struct beside *b, const char *path, mode_t mode);
/* All of it. False: errno. */
bool beside_write(struct beside *b, const void *bytes, size_t n);
/* Puts it in the place of `path` where it is whole, else removes it. False: it was removed; errno,
 * where it was whole. */
bool beside_end(struct beside *b, const char *path, bool whole);

/* Where --output leads: text into a file, NULL: standard output. A regular file, or a new one, is
 * there whole or not at all: by rename. Only where its directory takes no other file is it written
 * in place. False: it could not, and was complained of. */
bool print_into(const char *path, const char *text);
