/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's own memory: pages of the kernel, which are never freed, up to a limit. Callers hold
 * the shim's lock.
 */
#pragma once

#include "core/base/base.h"

/* Zeroed pages for n bytes. Needs no lock. NULL: the kernel refuses. */
void *memory_map(size_t n);

/* Grows to MEMORY_MOST bytes; then it returns NULL. */
extern struct wc_arena memory_arena;
#define MEMORY_MOST ((size_t)64 << 20)

/* Maps the memory that a usual log still needs: a sandbox may refuse that later. */
void memory_make_room(void);
/* Begins a new chunk: at the fork another thread may have been taking from the old one. */
void memory_forget(void);

/* Scratch memory, zeroed at first, for one operation at a time. NULL: the kernel refuses. */
enum { SCRATCH_FILE = 72 << 10, SCRATCH_DIAGNOSE = 256 << 10 };
void *memory_scratch_file(void);
void *memory_scratch_diagnose(void);
void *memory_scratch_search(void); /* WC_SEARCH_SCRATCH bytes */
