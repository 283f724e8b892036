/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "program.h"

/* The first chunk and the largest that is not asked for; between them an eighth of what there is:
 * of ten thousand logs most are small. */
#define CHUNK_FIRST ((size_t)256)
#define CHUNK_LAST ((size_t)256 * 1024)
#define ALIGNMENT 16U

struct chunk {
    struct chunk *older;
    size_t size;
    _Alignas(ALIGNMENT) unsigned char p[];
};

void *heap_arena_more(void *owner, size_t n) {
    struct heap_arena *h = owner;
    size_t wanted = (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1), size;

    if (n > SIZE_MAX / 2)
        must_fail();
    if (!h->chunks || h->chunks->size - h->used < wanted) {
        size = MIN(h->total / 8 & ~(size_t)(ALIGNMENT - 1), CHUNK_LAST);
        size = MAX(wanted, MAX(size, CHUNK_FIRST));
        struct chunk *c = must_grow(NULL, sizeof(*c) + size);
        c->older = h->chunks;
        c->size = size;
        h->chunks = c;
        h->total += size;
        h->used = 0;
    }
    h->used += wanted;
    return memset(h->chunks->p + h->used - wanted, 0, wanted);
}

void heap_arena_begin(struct heap_arena *h) {
    *h = (struct heap_arena)HEAP_ARENA(*h);
}

void heap_arena_end(struct heap_arena *h) {
    for (struct chunk *c; (c = h->chunks);) {
        h->chunks = c->older;
        free(c);
    }
    h->used = h->total = 0;
}

static void *must(void *p) {
    if (!p)
        must_fail();
    return p;
}

void *must_allocate(size_t n) {
    return must(calloc(1, n ? n : 1));
}

void *must_grow(void *p, size_t n) {
    return must(realloc(p, n));
}

static void *piece(void *unused, size_t n) {
    (void)unused;
    return must_allocate(n);
}

struct wc_arena must_memory = {.more = piece};

void fd_end(int *fd) {
    const int error = errno;

    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = error;
}

void owned_file_end(FILE **file) {
    if (*file)
        fclose(*file);
}

void owned_directory_end(DIR **directory) {
    if (*directory)
        closedir(*directory);
}
