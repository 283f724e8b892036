/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include "core/search/search.h"
#include "sys.h"

#define CHUNK ((size_t)256 << 10)

/* The first chunk is part of the library: most processes need no more. */
static _Alignas(16) unsigned char first_chunk[32 << 10];
static unsigned char *chunk = first_chunk;
static size_t chunk_left = sizeof first_chunk, taken_in_all;

/* Our memory is far below the libraries, which the kernel maps one below the other: for a damaged
 * one the loader may map too much, and over what is above it. */
#define DISTANCE ((uintptr_t)64 << 30)

void *memory_map(size_t n) {
    static uintptr_t asked; /* bytes, by all threads */
    uintptr_t size = (n + 4095) & ~(uintptr_t)4095;
    uintptr_t top = ((uintptr_t)&asked & ~(uintptr_t)4095) - DISTANCE;
    uintptr_t below = __atomic_add_fetch(&asked, size, __ATOMIC_RELAXED);
    void *fresh = sys_map_at(top - below, n, PROT_READ | PROT_WRITE, 0);
    if (fresh)
        sys_leave_unchecked(fresh, size);
    return fresh;
}

static bool take_chunk(size_t size) {
    void *fresh = taken_in_all + size > MEMORY_MOST ? NULL : memory_map(size);
    if (!fresh)
        return false;
    taken_in_all += size;
    chunk = fresh;
    chunk_left = size;
    return true;
}

static void *more(WC_UNUSED void *owner, size_t n) {
    if (n > MEMORY_MOST)
        return NULL;
    n = (n + 15) & ~(size_t)15;
    if (n > chunk_left && !take_chunk(n > CHUNK ? (n + 4095) & ~(size_t)4095 : CHUNK))
        return NULL;
    void *p = chunk;
    chunk += n;
    chunk_left -= n;
    return p;
}

struct wc_arena memory_arena = {more, NULL};

void memory_forget(void) {
    chunk_left = 0;
}

static void *scratch(void **kept, size_t size) {
    if (!*kept)
        *kept = memory_map(size);
    return *kept;
}

void *memory_scratch_file(void) {
    static void *kept;
    return scratch(&kept, SCRATCH_FILE);
}

void *memory_scratch_diagnose(void) {
    static void *kept;
    return scratch(&kept, SCRATCH_DIAGNOSE);
}

void *memory_scratch_search(void) {
    static void *kept;
    return scratch(&kept, WC_SEARCH_SCRATCH);
}

void memory_make_room(void) {
    memory_scratch_diagnose();
    if (chunk_left < CHUNK / 2)
        take_chunk(CHUNK);
}
