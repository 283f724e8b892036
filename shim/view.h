/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library's file for the time of one description: private memory of the file's size, filled in as
 * the ELF view asks for it. The file itself is never mapped: another process may cut it, and
 * touching what is gone then is a SIGBUS of the host's. The shim's lock is held.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/elf/blocks.h"
#include "core/elf/elf_image.h"

#define VIEW_MOST ((size_t)65536 << 20) /* then blocks are of 1 MiB */

/* Too large for a stack. */
struct view {
    const char *path; /* the caller's, for as long as the view is open */
    unsigned char *bytes;
    uint64_t device, inode;
    struct wc_blocks blocks; /* damaged: it is not any more what it was when it was opened */
    struct wc_elf_image image;
};

/* False: no regular file with bytes in it, or no room for them. */
bool view_open(struct view *v, const char *path);
/* The file as an ELF image. NULL: it is none. Valid while the view is open. */
const struct wc_elf_image *view_image(struct view *v);
/* A wc_elf_fetch over a view. */
bool view_fetch(void *view, uint64_t offset, uint64_t n);
void view_close(struct view *v);
