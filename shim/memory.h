/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's own memory: pages from the kernel that are never given back, in a bounded amount.
 * Callers hold the shim's lock.
 */
#pragma once

#include "core/base/base.h"

/* Zeroed pages for n bytes; without the shim's lock, too. NULL: the kernel gives none. */
void *memory_map(size_t n);

/* Grows to MEMORY_MOST; then every taker gets NULL and drops what it wanted to keep. */
extern struct wc_arena memory_arena;
#define MEMORY_MOST ((size_t)64 << 20)

/* Room for what a usual log still takes: a sandbox may refuse it later. */
void memory_make_room(void);
/* Begins a new piece: what was being taken when the process forked may be half taken. */
void memory_forget(void);

/* Zeroed scratch memory for one operation at a time, NULL if the kernel gives none. */
enum { SCRATCH_FILE = 72 << 10, SCRATCH_DIAGNOSE = 256 << 10 };
void *memory_scratch_file(void);
void *memory_scratch_diagnose(void);
void *memory_scratch_search(void); /* WC_SEARCH_SCRATCH bytes */
