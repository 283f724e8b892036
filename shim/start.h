/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start-up objects: those that were on the loader's list before any code ran. They come first
 * on the list and are never unloaded, so they can be read without a lock.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Our own dynamic section, which identifies us on the list. */
extern HIDDEN ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC");
/* Our own ELF header, with which our mapping begins. */
extern HIDDEN const ElfW(Ehdr) __ehdr_start;
/* Of glibc's loader, in every version. NULL with another loader, and before we are relocated. */
extern struct r_debug loader_list __asm__("_r_debug") __attribute__((weak));

/* The loader's list; NULL: not glibc's. */
static inline const struct link_map *start_list(void) {
    const struct r_debug *loader = &loader_list;
    return loader ? loader->r_map : NULL;
}
/* The last start-up object; NULL: not recorded yet. */
const struct link_map *start_end(void);
void start_note(const struct link_map *last);
/* Is this an address in the code of a start-up object? */
bool start_has(uintptr_t address);
