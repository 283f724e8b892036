/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an ELF object, each access checked against its segments.
 */
#include "elf_inside.h"

/* Up to the end of a segment, and of those that follow without a gap: patchelf puts tables of a
 * program before its first segment, and they reach into that one. */
static uint64_t room_in(const struct wc_elf_image *e, size_t i, uint64_t in) {
    uint64_t room = e->load[i].readable - in;

    for (; i + 1 < e->loads && e->load[i + 1].vaddr == e->load[i].vaddr + e->load[i].readable &&
           e->load[i + 1].at == e->load[i].at + e->load[i].readable;
         i++)
        room += e->load[i + 1].readable;
    return room;
}

const void *wc_elf_at(const struct wc_elf_image *e, uint64_t vaddr, size_t n) {
    for (size_t i = 0; i < e->loads; i++) {
        uint64_t in = vaddr - e->load[i].vaddr, readable = e->load[i].readable;
        if (in < readable && (n <= readable - in || n <= room_in(e, i, in)))
            return wc_elf_fetched(e, e->load[i].at + in, n) ? e->load[i].at + in : NULL;
    }
    return NULL;
}

uint64_t wc_elf_room(const struct wc_elf_image *e, uint64_t vaddr) {
    for (size_t i = 0; i < e->loads; i++) {
        uint64_t in = vaddr - e->load[i].vaddr;
        if (in < e->load[i].readable)
            return room_in(e, i, in);
    }
    return 0;
}

const unsigned char *wc_elf_bytes(const struct wc_elf_image *e, uint64_t vaddr) {
    for (size_t i = 0; i < e->loads; i++)
        if (vaddr - e->load[i].vaddr < e->load[i].readable)
            return e->load[i].at + (vaddr - e->load[i].vaddr);
    return NULL;
}

const char *wc_elf_string(const struct wc_elf_image *e, uint64_t offset) {
    return offset < e->strsz ? e->string_table + offset : NULL;
}

/* Every machine that we are built for has registers of that size. */
typedef unsigned char bytes __attribute__((vector_size(16)));
typedef uint64_t words __attribute__((vector_size(16)));
WC_LAX(bytes);

static bool holds_byte(const unsigned char *p, bytes byte) {
    words at = (words)(WC_LAX_AT(bytes, p) == byte) | (words)(WC_LAX_AT(bytes, p + 16) == byte) |
               (words)(WC_LAX_AT(bytes, p + 32) == byte) |
               (words)(WC_LAX_AT(bytes, p + 48) == byte);
    return at[0] | at[1];
}

uint64_t wc_elf_skip_to(const unsigned char *p, uint64_t i, uint64_t n, unsigned char byte) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const bytes all = byte - (bytes){0};
    while (n - i >= 64 && !holds_byte(p + i, all))
        i += 64;
    for (; n - i >= 8; i += 8) {
        uint64_t other = WC_LAX_AT(uint64_t, p + i) ^ ones * byte; /* a zero byte where it is */
        uint64_t at = (other - ones) & ~other & ones << 7;
        if (at)
            return i + (uint64_t)__builtin_ctzll(at) / 8;
    }
    return i;
}

uint64_t wc_elf_find_bytes(const struct wc_elf_image *e, const char *bytes, size_t n, uint64_t *at,
                           size_t limit) {
    const unsigned char first = (unsigned char)bytes[0];
    for (size_t i = 0; n && limit && i < e->loads; i++) {
        uint64_t size = e->load[i].readable, from = 0;
        if (*at > e->load[i].vaddr)
            from = *at - e->load[i].vaddr;
        if ((e->load[i].flags & PF_W) || from >= size)
            continue;
        size = size - from < limit ? size - from : limit;
        limit -= size;
        const unsigned char *p = e->load[i].at + from;
        if (n > size || !wc_elf_fetched(e, p, size))
            continue;
        for (uint64_t k = 0; (k = wc_elf_skip_to(p, k, size, first)) <= size - n; k++)
            if (p[k] == first && wc_mem_compare(p + k, bytes, n) == 0) {
                *at = e->load[i].vaddr + from + k + 1;
                return *at - 1;
            }
    }
    return 0;
}
