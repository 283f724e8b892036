/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file, or another process's memory, that is read by blocks as it is asked for: which of them
 * were. What is there once is never read again, and stays as it was.
 */
#pragma once

#include "core/base/base.h"

#define WC_BLOCKS 65536

struct wc_blocks {
    /* n bytes from an offset on. False: they cannot be read. */
    bool (*read)(void *owner, uint64_t from, uint64_t n);
    void *owner;
    uint64_t size;
    unsigned bits; /* of a block's size */
    bool damaged;  /* something could not be read, or is not any more what it was */
    unsigned char have[WC_BLOCKS / 8];
};
/* bits: of the least size of a block; they are larger where there would be more than WC_BLOCKS. */
void wc_blocks_begin(struct wc_blocks *b, uint64_t size, unsigned bits,
                     bool (*read)(void *owner, uint64_t from, uint64_t n), void *owner);
/* False: damaged, once and for all. */
bool wc_blocks_fetch(struct wc_blocks *b, uint64_t offset, uint64_t n);
