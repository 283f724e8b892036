/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the command: arenas and allocation that end the program when there is no more (a
 * command that cannot show its result is of no use).
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

struct chunk;
struct heap_arena {
    struct wc_arena arena; /* hand out &h->arena; it points back to h, so h must not move */
    struct chunk *chunks;
    size_t used;  /* of the newest chunk */
    size_t total; /* of all chunks */
};

void *heap_arena_more(void *owner, size_t n);
/* Of that name: ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory); */
#define HEAP_ARENA(h)                                                                              \
    {                                                                                              \
        .arena = { heap_arena_more, &(h) }                                                         \
    }
void heap_arena_begin(struct heap_arena *h);
/* A text in it; NULL of NULL. */
#define heap_copy(h, s) wc_arena_string(&(h)->arena, s)
/* Everything taken from it is gone. It can be used again. */
void heap_arena_end(struct heap_arena *h);

/* Never NULL. */
void *must_allocate(size_t n); /* zeroed */
void *must_grow(void *p, size_t n);
/* The place after the last of a list, of which there is one more then: *MUST_ADD(p, n) = x; */
#define MUST_ADD(p, n) ((p) = must_grow((p), ((n) + 1) * sizeof(*(p))), &(p)[(n)++])
/* Anything that has p and n, which may be empty: SORT(list, by_name); */
#define SORT(list, order) ((list).n ? qsort((list).p, (list).n, sizeof(*(list).p), order) : (void)0)
/* Through a list of pointers: EACH_POINTER(log, logs->processes, logs->process_count) use(log); */
#define EACH_POINTER(item, pointers, count)                                                        \
    for (__typeof__(*(pointers)[0]) *item = NULL, *const *item##_at = (pointers);                  \
         item##_at && item##_at < (pointers) + (count) && ((item = *item##_at), true);             \
         item##_at++)
extern struct wc_arena must_memory; /* each piece of it is freed by itself */
#define must_copy(s) wc_arena_string(&must_memory, s)
#define must_format(...) wc_arena_format(&must_memory, __VA_ARGS__)

/* Memory that is freed where its name ends, of any type: OWNED char *text = must_format(...); */
static inline void owned_end(void *place) {
    void *p;

    memcpy(&p, place, sizeof(p));
    free(p);
}
#define OWNED __attribute__((cleanup(owned_end)))
/* Ends a struct where its name ends. It is zeroed or begun before the first return. */
#define ENDED_BY(end) __attribute__((cleanup(end)))
/* Closes it where it is open, and makes it -1; errno stays. */
void fd_end(int *fd);
/* The same of what is closed there. NULL: nothing is open. */
void owned_file_end(FILE **file);
void owned_directory_end(DIR **directory);
#define OWNED_FD __attribute__((cleanup(fd_end)))
#define OWNED_FILE __attribute__((cleanup(owned_file_end)))
#define OWNED_DIR __attribute__((cleanup(owned_directory_end)))
