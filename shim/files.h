/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files with raw system calls; struct wc_files for core/.
 */
#pragma once

#include <sys/stat.h>

#include "core/base/files.h"

extern const struct wc_files shim_files;

/* Opens a regular file for reading, and fills in *st. Negative: no such file, or it cannot be read.
 */
int files_open(const char *path, struct stat *st);
/* Up to cap bytes from offset; *n: how many were there. False: an error, after *n bytes. */
bool files_read(int fd, uint64_t offset, void *to, size_t cap, size_t *n);
/* Reads a small file whole; NUL-terminates. False: not readable. */
bool files_read_text(const char *path, char *to, size_t cap);
/* The file mapped at an address, as /proc/self/maps names it. False: none, or not readable. */
bool files_mapped_at(uintptr_t address, char *to, size_t cap);
/* Where a link points, NUL-terminated. False: no link, or it does not fit. */
bool files_read_link(const char *path, char *to, size_t cap);
