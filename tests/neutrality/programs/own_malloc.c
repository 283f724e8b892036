/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A malloc of the program's own, which counts how often it is asked. With ASKS_NEXT it finds the
 * next one by dlsym(RTLD_NEXT, ...) at first use and passes on; else it gives of one large array
 * and never takes back.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static atomic_int asked;

int moments_mallocs(void);
int moments_mallocs(void) {
    return atomic_exchange(&asked, 0);
}

static alignas(16) char room[16 << 20];
static atomic_size_t used;

/* The size stands before what is given. */
static void *take(size_t size) {
    size_t whole = (size + 31) & ~(size_t)15, at = atomic_fetch_add(&used, whole);
    if (at + whole > sizeof room) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(room + at, &size, sizeof size);
    return room + at + 16;
}

static int is_ours(const void *p) {
    return (const char *)p >= room && (const char *)p < room + sizeof room;
}

static size_t size_of(const void *p) {
    size_t size;
    memcpy(&size, (const char *)p - 16, sizeof size);
    return size;
}

#ifdef ASKS_NEXT
static void *(*next_malloc)(size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static atomic_int asking;

/* dlsym itself may ask for memory: that comes out of the array. */
static int has_next(void) {
    int nobody = 0;
    if (!next_malloc && atomic_compare_exchange_strong(&asking, &nobody, 1)) {
        *(void **)&next_free = dlsym(RTLD_NEXT, "free");
        *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
        *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    }
    return next_malloc != NULL;
}
#else
static int has_next(void) {
    return 0;
}
static void *next_malloc(size_t size) {
    return take(size);
}
static void *next_realloc(void *p, size_t size) {
    (void)p;
    return take(size);
}
static void next_free(void *p) {
    (void)p;
}
#endif

void *malloc(size_t size) {
    asked++;
    return has_next() ? next_malloc(size) : take(size);
}

void *calloc(size_t n, size_t size) {
    void *p = n && size > SIZE_MAX / n ? NULL : malloc(n * size);
    return p ? memset(p, 0, n * size) : p;
}

void *realloc(void *p, size_t size) {
    if (!p)
        return malloc(size);
    asked++;
    if (!is_ours(p))
        return next_realloc(p, size);
    void *to = take(size);
    return to ? memcpy(to, p, size_of(p) < size ? size_of(p) : size) : to;
}

void free(void *p) {
    if (p && !is_ours(p) && has_next())
        next_free(p);
}
