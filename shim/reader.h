/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens library files for core/ (core/records/library.h): at most two at a time, the second one
 * while the first is being read. The shim's lock is held.
 */
#pragma once

#include "core/elf/blocks.h"
#include "core/records/emit.h"

#define VIEW_MOST ((size_t)65536 << 20) /* bytes: then a block has 1 MiB */

/* A library's file in private memory of its size, which is filled in as the ELF reader needs it.
 * The file is not mapped, because another process may truncate it, and reading a page that is gone
 * kills the host with SIGBUS. Too large for a call stack. */
struct view {
    const char *path; /* the caller's, for as long as the view is open */
    unsigned char *bytes;
    uint64_t device, inode;
    struct wc_blocks blocks; /* damaged: the file has changed since it was opened */
    struct wc_elf_image image;
};

/* False: the file is not regular, or empty, or there is no room for it. */
bool view_open(struct view *v, const char *path);
/* A wc_elf_fetch over a view. */
bool view_fetch(void *view, uint64_t offset, uint64_t n);
void view_close(struct view *v);

/* Its scratch is NULL if there is no memory. */
const struct wc_reader *reader(void);

/* The environments whose packages have their records: each is read once. After a fork the table may
 * be half changed. */
extern struct wc_environments reader_environments;
void reader_forget(void);
