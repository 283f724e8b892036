/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks an ELF view everything that whichcudnn asks one. A sanitizer sees what lies outside of it.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_IMAGE_H
#define WHICHCUDNN_TESTS_SUPPORT_IMAGE_H

#include "core/elf/elf_image.h"
#include "support_fuzz.h"

enum { FOUND_MOST = 48, TEXTS_MOST = 200 };

/* Reads a text to its end. */
static inline size_t reads(const char *s) {
    return s ? strlen(s) : 0;
}

static inline void ask_symbol(const struct wc_elf_image *e, uint32_t i, bool find) {
    struct wc_elf_symbol s, found;
    if (!wc_elf_symbol_at(e, i, &s))
        return;
    MUST(s.name == wc_elf_symbol_name(e, i));
    MUST(!s.version_file || s.version);
    reads(s.name);
    reads(s.version);
    reads(s.version_file);
    if (find && wc_elf_find_defined(e, s.name, &found)) {
        MUST(found.defined);
        MUST(strcmp(found.name, s.name) == 0);
    }
}

static inline void ask_symbols(const struct wc_elf_image *e) {
    struct wc_elf_symbol s;
    for (uint32_t i = 0; i < e->symbols; i++)
        ask_symbol(e, i, i < FOUND_MOST);
    MUST(!wc_elf_symbol_at(e, e->symbols, &s));
    MUST(!wc_elf_symbol_name(e, e->symbols));
    MUST(wc_elf_imports_end(e) <= e->symbols);
    wc_elf_find_defined(e, "cudnnGetVersion", &s);
    wc_elf_find_defined(e, "", &s);
    reads(wc_elf_defined_symbol_version(e));
    for (size_t i = 0; wc_elf_version_file(e, i); i++)
        reads(wc_elf_version_lacking(e, i, e));
}

static inline void ask_relocs(const struct wc_elf_image *e) {
    struct wc_elf_reloc r;
    size_t n = 0, jumps = 0;
    for (; wc_elf_reloc_at(e, n, &r); n++)
        jumps += r.jump_slot_table;
    MUST(n == e->jump_reloc_count + e->reloc_count && jumps == e->jump_reloc_count);
}

static inline void ask_bytes(const struct wc_elf_image *e) {
    static const char *const texts[] = {"cudnn_version", "%s.%d.%d.%d", "c"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        uint64_t at = 0, found;
        size_t n = strlen(texts[k]);
        for (int i = 0; i < TEXTS_MOST && (found = wc_elf_find_bytes(e, texts[k], n, &at, 65536));
             i++) {
            const void *p = wc_elf_at(e, found, n);
            MUST(at == found + 1);
            MUST(p);
            /* Where segments overlap, an address means the first of them. */
            MUST(e->loads > 1 || memcmp(p, texts[k], n) == 0);
        }
    }
}

static inline void ask_everything(const struct wc_elf_image *e) {
    MUST(e->loads <= WC_ELF_SEGMENTS && e->build_id_size <= sizeof e->build_id);
    MUST(e->first_defined <= e->symbols);
    reads(e->soname);
    reads(e->rpath);
    reads(e->runpath);
    for (size_t i = 0; i < TEXTS_MOST; i++)
        reads(wc_elf_needed(e, i));
    ask_symbols(e);
    ask_relocs(e);
    ask_bytes(e);
}

#endif
