/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a file, or the memory of another process, block by block and on demand, and keeps which
 * blocks were read: each is read once, so its bytes never change.
 */
#pragma once

#include "core/base/base.h"

#define WC_BLOCKS 65536

struct wc_blocks {
    /* Reads n bytes from an offset on into the owner's memory. False: they cannot be read. */
    bool (*read)(void *owner, uint64_t from, uint64_t n);
    void *owner;
    uint64_t size;
    unsigned bits; /* of a block's size */
    bool damaged;  /* a read failed, or the file changed */
    unsigned char have[WC_BLOCKS / 8];
};
/* bits: of the block size; blocks are larger if there would be more than WC_BLOCKS. */
void wc_blocks_begin(struct wc_blocks *b, uint64_t size, unsigned bits,
                     bool (*read)(void *owner, uint64_t from, uint64_t n), void *owner);
/* Reads the blocks of n bytes from an offset on. False: damaged, and so are all later calls. */
bool wc_blocks_fetch(struct wc_blocks *b, uint64_t offset, uint64_t n);
