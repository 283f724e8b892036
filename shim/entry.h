/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the assembly entries (shim/arch/<arch>/entry.S) and their hook: a number
 * for each exported function, and the hook's answer. Included by assembly, too.
 */
#pragma once

#define ENTRY_DLOPEN 0
#define ENTRY_DLMOPEN 1
#define ENTRY_DLSYM 2
#define ENTRY_DLVSYM 3
#define ENTRY_DLCLOSE 4
#define ENTRY_DLERROR 5
#define ENTRY_DLADDR 6
#define ENTRY_DLADDR1 7
#define ENTRIES 8

#ifndef __ASSEMBLER__
#include <stdint.h>

/* Their names, by number: arrays, since pointers would need relocation. */
static const char entry_names[ENTRIES][8] __attribute__((unused)) = {
    "dlopen", "dlmopen", "dlsym", "dlvsym", "dlclose", "dlerror", "dladdr", "dladdr1"};

struct entry_answer {
    uintptr_t jump;  /* where the entry jumps to, with the host's arguments and return address */
    uintptr_t value; /* returned to the host where jump is 0 */
};

/* arguments: the host's integer arguments in order; return_address: into the host. */
__attribute__((visibility("hidden"))) struct entry_answer
shim_hook(unsigned entry, const uintptr_t *arguments, uintptr_t return_address);
/* Used instead before the loader has relocated us: no import works, so nothing is observed. */
__attribute__((visibility("hidden"))) struct entry_answer
shim_hook_unrelocated(unsigned entry, const uintptr_t *arguments, uintptr_t return_address);
#endif
