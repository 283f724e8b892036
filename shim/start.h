/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that the loader itself put on its list before anything ran, and what is found in
 * them. They stand first and stay where they are, so that they are read without a lock.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Our own dynamic section, by which we know ourselves on the list. */
extern HIDDEN ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC");
/* Of glibc's loader, in every version; another has it not, nor is it there before our relocation.
 */
extern struct r_debug loader_list __asm__("_r_debug") __attribute__((weak));

/* The loader's list; NULL: not glibc's. */
static inline const struct link_map *start_list(void) {
    const struct r_debug *loader = &loader_list;
    return loader ? loader->r_map : NULL;
}
/* The last of them; NULL: not noted yet. */
const struct link_map *start_end(void);
void start_note(const struct link_map *last);
/* Is it the code of one of them? */
bool start_has(uintptr_t address);
