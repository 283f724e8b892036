/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's list of objects, and an object on it as dl_iterate_phdr would give it. Reading the
 * list needs the loader's dl_load_lock (shim/README.md, "Noticing new objects"), except for
 * start-up objects, which come first and are never unloaded.
 */
#pragma once

#include <link.h>

#include "core/elf/elf_image.h"
#include "readable.h"

/* The first object on the list, the program. NULL under another C library than glibc, where the
 * shim only forwards: musl's loader passes constructors no arguments and takes no lock. Call it
 * only after we are relocated. */
const struct link_map *listed_first(void);
void listed_info(const struct link_map *m, struct dl_phdr_info *info);

static inline bool listed_image(const struct dl_phdr_info *info, struct wc_elf_image *e) {
    return wc_elf_from_memory(e, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) == WC_ELF_OK;
}

/* The same for an object whose code may have run: it may have made its memory unreadable. */
static inline bool listed_image_asked(const struct dl_phdr_info *info, struct wc_elf_image *e) {
    return readable_image(e, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
}

static inline bool listed_contains(const struct dl_phdr_info *info, uintptr_t address) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

/* The range [*low, *high) of its segments; *high 0: it has none. */
static inline void listed_range(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high) {
    *low = UINTPTR_MAX;
    *high = 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        *low = start < *low ? start : *low;
        *high = start + p->p_memsz > *high ? start + p->p_memsz : *high;
    }
}
