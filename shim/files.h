/*
 * The read-only view of the file system for core/, over raw system calls.
 */
#ifndef SHIM_FILES_H
#define SHIM_FILES_H

#include "whichcudnn/files.h"

extern const struct wc_files shim_files;

/* Reads a small file whole; NUL-terminates. False: not readable. */
bool files_read_text(const char *path, char *to, size_t cap);
/* The file mapped at an address, as /proc/self/maps names it. False: none, or not readable. */
bool files_mapped_at(uintptr_t address, char *to, size_t cap);
/* Where a link points, NUL-terminated. False: no link, or it does not fit. */
bool files_read_link(const char *path, char *to, size_t cap);

#endif
