/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the ELF reader: for core/elf/elf_*.c and core/names/version_code.c only.
 */
#pragma once

#include "elf_image.h"

/* Structures are read in place, wherever a file puts them: no alignment, no aliasing rule holds. */
#define WC_LAX(type)                                                                               \
    struct wc_lax_##type {                                                                         \
        type v;                                                                                    \
    } __attribute__((packed, may_alias))
WC_LAX(Elf64_Ehdr);
WC_LAX(Elf64_Phdr);
WC_LAX(Elf64_Dyn);
WC_LAX(Elf64_Sym);
WC_LAX(Elf64_Rela);
WC_LAX(Elf64_Nhdr);
WC_LAX(Elf64_Verdef);
WC_LAX(Elf64_Verdaux);
WC_LAX(Elf64_Verneed);
WC_LAX(Elf64_Vernaux);
WC_LAX(uint16_t);
WC_LAX(uint32_t);
WC_LAX(uint64_t);
#define WC_LAX_AT(type, p) (((const struct wc_lax_##type *)(const void *)(p))->v)

/* Readable bytes from a link-time address to the end of its segment; 0: it is in none. */
uint64_t wc_elf_room(const struct wc_elf_image *e, uint64_t vaddr);
/* The bytes at an address that wc_elf_room found in a segment. wc_elf_fetched() has to come before
 * they are read. */
const unsigned char *wc_elf_bytes(const struct wc_elf_image *e, uint64_t vaddr);
/* Makes bytes readable that did not come from wc_elf_at. False: they cannot be read. */
static inline bool wc_elf_fetched(const struct wc_elf_image *e, const void *at, uint64_t n) {
    return !e->fetch ||
           e->fetch(e->fetch_owner, (uint64_t)((const unsigned char *)at - e->file), n);
}
/* Fills all of e that comes from PT_DYNAMIC. */
enum wc_elf_error wc_elf_read_dynamic(struct wc_elf_image *e, uint64_t vaddr, uint64_t size);
/* Number of .dynsym entries and the first defined one; needs the addresses of the tables. */
void wc_elf_count_symbols(struct wc_elf_image *e);

/* Skips from i on many bytes of p[0..n) at a time that are not `byte`: returns its index, or the
 * index of the last few bytes, which the caller looks at itself. */
uint64_t wc_elf_skip_to(const unsigned char *p, uint64_t i, uint64_t n, unsigned char byte);
