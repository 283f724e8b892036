/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes for tables in memory. They may differ from one release to the next.
 */
#pragma once

#include "base.h"

#define WC_HASH_START 0xcbf29ce484222325u

static inline uint64_t wc_hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32; /* else the high bits of a word never reach the low ones */
}

static inline uint64_t wc_hash_bytes(uint64_t hash, const void *p, size_t n) {
    const unsigned char *bytes = p;
    uint64_t word;
    for (; n >= sizeof word; n -= sizeof word, bytes += sizeof word)
        hash = wc_hash_word(hash, *(const wc_wide *)bytes);
    for (word = n; n; n--)
        word = word << 8 | *bytes++;
    return wc_hash_word(hash, word);
}

/* NULL counts as "". */
static inline uint64_t wc_hash_text(uint64_t hash, const char *s) {
    return wc_hash_bytes(hash, s, s ? wc_str_length(s) : 0);
}
