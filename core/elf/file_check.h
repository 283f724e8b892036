/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Examines a file where the loader looked for a library, without loading it: would the loader
 * refuse it, or skip it silently, and why?
 */
#pragma once

#include "core/base/files.h"
#include "whichcudnn/record.h"

struct wc_file_check {
    enum wc_file_fault fault; /* UNKNOWN: no fault was found */
    char what[320];      /* "a git-LFS pointer to a file of 4096 bytes"; "": there is no file */
    int64_t size, needs; /* bytes; WC_NULL: not known. needs: bytes that the whole file has */
    uint64_t maps;       /* bytes of address space that its segments span; 0: not known */
};

/* Of a path that could not be examined (struct wc_file_stat: closed): puts the first directory of
 * it that this process may not enter into `to`. *is_link: that is a link to such a directory.
 * False: the path is too long, or all its directories may be entered. */
bool wc_closed_directory(const struct wc_files *files, const char *path, char *to, size_t cap,
                         bool *is_link);

/* Reads at most the header, the program headers and the first entry of the dynamic section.
 * machine: the ELF machine of the process (EM_X86_64). False: there seems to be no file. */
bool wc_file_check(const struct wc_files *files, const char *path, uint16_t machine,
                   struct wc_file_check *out);
