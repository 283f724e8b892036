/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DT_GNU_HASH and DT_HASH: how many symbols there are, and finding one.
 */
#include "elf_inside.h"

bool wc_elf_open_gnu_hash(const struct wc_elf_image *e, struct wc_elf_hash *h) {
    uint64_t room = e->gnu_hash ? wc_elf_room(e, e->gnu_hash) : 0;
    const unsigned char *p = room < 16 ? NULL : wc_elf_at(e, e->gnu_hash, 16);
    if (!p)
        return false;
    h->bucket_count = WC_LAX_AT(uint32_t, p);
    h->first = WC_LAX_AT(uint32_t, p + 4);
    h->bloom_count = WC_LAX_AT(uint32_t, p + 8);
    h->bloom_shift = WC_LAX_AT(uint32_t, p + 12);
    uint64_t before_chains = 16 + 8ull * h->bloom_count + 4ull * h->bucket_count;
    if (!h->bucket_count || !h->bloom_count || before_chains > room ||
        !wc_elf_fetched(e, p, before_chains))
        return false;
    h->bloom = p + 16;
    h->buckets = h->bloom + 8ull * h->bloom_count;
    h->chains = p + before_chains;
    h->chain_entries = (room - before_chains) / 4;
    return true;
}

bool wc_elf_open_hash(const struct wc_elf_image *e, struct wc_elf_hash *h) {
    uint64_t room = e->hash ? wc_elf_room(e, e->hash) : 0;
    const unsigned char *p = room < 8 ? NULL : wc_elf_at(e, e->hash, 8);
    if (!p)
        return false;
    h->bucket_count = WC_LAX_AT(uint32_t, p);
    h->chain_entries = WC_LAX_AT(uint32_t, p + 4);
    uint64_t size = 8 + 4ull * h->bucket_count + 4 * h->chain_entries;
    if (!h->bucket_count || size > room || !wc_elf_fetched(e, p, size))
        return false;
    h->first = 0;
    h->bloom = NULL;
    h->bloom_count = h->bloom_shift = 0;
    h->buckets = p + 8;
    h->chains = h->buckets + 4ull * h->bucket_count;
    return true;
}

/*
 * The symbols are sorted by bucket, so the last bucket in use holds the last of them and its chain
 * ends with the table. 0: no bucket in use.
 */
static uint32_t gnu_symbol_count(const struct wc_elf_image *e, const struct wc_elf_hash *h) {
    uint32_t bucket = h->bucket_count, start = 0;
    while (bucket && !start)
        start = WC_LAX_AT(uint32_t, h->buckets + 4ull * --bucket);
    if (start < h->first || !start)
        return 0;
    for (uint64_t i = start - h->first; wc_elf_has_chain(e, h, i); i++)
        if (WC_LAX_AT(uint32_t, h->chains + 4 * i) & 1)
            return (uint32_t)(h->first + i + 1);
    return 0;
}

void wc_elf_count_symbols(struct wc_elf_image *e) {
    const uint64_t others[] = {e->strtab, e->hash,   e->gnu_hash, e->versym, e->verdef, e->verneed,
                               e->rela,   e->jmprel, e->relr,     e->pltgot, e->init,   e->dynamic};
    struct wc_elf_hash h;
    uint64_t room = e->symtab ? wc_elf_room(e, e->symtab) : 0;
    WC_EACH_ROW(other, others) /* .dynsym ends where the next table begins, or before */
        if (*other > e->symtab && *other - e->symtab < room)
            room = *other - e->symtab;
    uint64_t most = room / sizeof(Elf64_Sym), count = most;
    bool gnu = wc_elf_open_gnu_hash(e, &h);
    uint32_t first = gnu ? h.first : 0;
    if (gnu) {
        /* With nothing to find, gold, lld and mold give the table's end as the first symbol, ld.bfd
         * gives 1: the table's room decides then. */
        count = gnu_symbol_count(e, &h);
        if (!count)
            first = (uint32_t)(count = first > 1 ? first : most);
    } else if (wc_elf_open_hash(e, &h)) {
        count = h.chain_entries;
    }
    if (count > most)
        count = most;
    e->symbols = (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX);
    e->symbol_table =
        e->symbols ? wc_elf_at(e, e->symtab, (uint64_t)e->symbols * sizeof(Elf64_Sym)) : NULL;
    if (!e->symbol_table)
        e->symbols = 0;
    e->first_defined = first < e->symbols ? first : gnu ? e->symbols : 0;
}
