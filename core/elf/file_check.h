/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands where a library was looked for, without loading it: what the loader refuses a file
 * for, and what it passes over without a word.
 */
#pragma once

#include "core/base/files.h"
#include "whichcudnn/record.h"

struct wc_file_check {
    enum wc_file_fault fault; /* UNKNOWN: nothing that was found */
    char what[320];      /* "a git-LFS pointer to a file of 4096 bytes"; "": nothing is there */
    int64_t size, needs; /* bytes; WC_NULL: not known. needs: of a whole file */
    uint64_t maps;       /* bytes of address space that its segments span; 0: not known */
};

/* The path up to the first directory on the way that this process may not enter, where something
 * could not be looked at for that (struct wc_file_stat). A link may stand for it: *is_link. False:
 * the path is too long, or all is open. */
bool wc_closed_directory(const struct wc_files *files, const char *path, char *to, size_t cap,
                         bool *is_link);

/* machine: the ELF machine of the process (EM_X86_64). Header, program headers and the
 * first entry of the dynamic section are read, no more. False: nothing stands there, as far as can
 * be seen. */
bool wc_file_check(const struct wc_files *files, const char *path, uint16_t machine,
                   struct wc_file_check *out);
