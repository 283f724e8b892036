/* SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"

void wc_blocks_begin(struct wc_blocks *b, uint64_t size, unsigned bits,
                     bool (*read)(void *owner, uint64_t from, uint64_t n), void *owner) {
    wc_mem_set(b, 0, sizeof *b);
    b->read = read;
    b->owner = owner;
    b->size = size;
    b->bits = bits;
    while (size && (size - 1) >> b->bits >= WC_BLOCKS)
        b->bits++;
}

static bool has_block(const struct wc_blocks *b, uint64_t i) {
    return b->have[i / 8] >> (i % 8) & 1;
}

/* Blocks first to last, none of which was read. */
static bool read_blocks(struct wc_blocks *b, uint64_t first, uint64_t last) {
    uint64_t from = first << b->bits, end = (last + 1) << b->bits;
    if (!b->read(b->owner, from, (end < b->size ? end : b->size) - from))
        return false;
    for (uint64_t i = first; i <= last; i++)
        b->have[i / 8] |= (unsigned char)(1 << (i % 8));
    return true;
}

bool wc_blocks_fetch(struct wc_blocks *b, uint64_t offset, uint64_t n) {
    if (!n)
        return true;
    uint64_t last = (offset + n - 1) >> b->bits;
    for (uint64_t i = offset >> b->bits, end; i <= last && !b->damaged; i = end) {
        end = i + 1;
        if (has_block(b, i))
            continue;
        while (end <= last && !has_block(b, end))
            end++;
        b->damaged = !read_blocks(b, i, end - 1);
    }
    return !b->damaged;
}
