/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object as dl_iterate_phdr gives it.
 */
#pragma once

#include <link.h>

#include "core/elf/elf_image.h"

static inline bool listed_image(const struct dl_phdr_info *info, struct wc_elf_image *e) {
    return wc_elf_from_memory(e, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) == WC_ELF_OK;
}

static inline bool listed_contains(const struct dl_phdr_info *info, uintptr_t address) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

/* What its segments span, [*low, *high); *high 0: it has none. */
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

/* The loader's list, to which the DT_DEBUG of a program leads; NULL: it has none. */
static inline const struct link_map *listed_by(uintptr_t base, const ElfW(Phdr) * phdr, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (phdr[i].p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *d = (const void *)(base + phdr[i].p_vaddr); d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
                return ((const struct r_debug *)d->d_un.d_ptr)->r_map;
    }
    return NULL;
}
