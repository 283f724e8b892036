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
        uint64_t from = i << b->bits, to = end << b->bits;
        b->damaged = !b->read(b->owner, from, (to < b->size ? to : b->size) - from);
        for (uint64_t k = i; k < end && !b->damaged; k++)
            b->have[k / 8] |= (unsigned char)(1 << (k % 8));
    }
    return !b->damaged;
}
