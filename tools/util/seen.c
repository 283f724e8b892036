/* SPDX-License-Identifier: Apache-2.0 */
#include "seen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/reading.h"

#define HEAD 64 /* what a search for libraries reads of a file */
#define SMALL ((size_t)64 << 10)
#define FILE_MOST ((size_t)4 << 20)
#define BYTES_MOST ((size_t)64 << 20)

struct sought {
    UT_hash_handle hh;
    const char *key;
    uint64_t at;
};

struct seen *seen_at(struct seen_paths *p, const char *path) {
    const size_t n = strlen(path);
    struct seen *s;

    s = hash_find(p->all, path, n);
    if (s)
        return s;
    s = must_allocate(sizeof(*s));
    s->path = must_copy(path);
    s->error = below_lstat(p->below, path, &s->facts) ? 0 : errno;
    hash_add(&p->all, s, s->path, n);
    return s;
}

const char *seen_target(struct seen_paths *p, struct seen *s) {
    char target[PATH_MAX];
    ssize_t n;

    if (s->target || (n = below_readlink(p->below, s->path, target, sizeof(target))) < 0)
        return s->target;
    if ((size_t)n < sizeof(target))
        s->target = wc_arena_string_n(&p->memory.arena, target, (size_t)n);
    else
        errno = ENAMETOOLONG;
    return s->target;
}

const char *const *seen_names(struct seen_paths *p, struct seen *s) {
    DIR *d = s->names ? NULL : below_list(p->below, s->path);
    const char **names = NULL;
    size_t n = 0;

    if (!d)
        return s->names;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            *MUST_ADD(names, n) = wc_arena_string(&p->memory.arena, e->d_name);
    *MUST_ADD(names, n) = NULL;
    closedir(d);
    s->names = names;
    return s->names;
}

bool seen_bytes(struct seen_paths *p, struct seen *s, uint64_t end) {
    const size_t size = s->error || !S_ISREG(s->facts.st_mode) ? 0 : (size_t)s->facts.st_size;
    const size_t kept = end <= HEAD && size > SMALL ? HEAD : size;

    if (s->bytes && (s->kept == size || end <= s->kept))
        return true;
    /* What has no size may hold something all the same: /proc. */
    if (size == 0 || kept > FILE_MOST || kept > BYTES_MOST - p->bytes)
        return false;
    OWNED_FD int fd = below_open(p->below, s->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    s->bytes = must_grow(s->bytes, kept);
    s->kept = fd >= 0 && below_read(fd, 0, s->bytes, kept) == kept ? kept : 0;
    p->bytes += s->kept;
    return s->kept > 0;
}

static uint64_t find(const struct seen *s, uint64_t from, const char *text, bool at_line) {
    const unsigned char *end = s->bytes + s->facts.st_size, *begin = s->bytes + from, *p = begin;
    const size_t n = strlen(text);

    for (; p < end && (p = memmem(p, (size_t)(end - p), text, n)); p++)
        if (!at_line || (p == begin ? from == 0 : p[-1] == '\n'))
            return (uint64_t)(p - s->bytes);
    return WC_NOWHERE;
}

uint64_t seen_find(struct seen_paths *p, struct seen *s, uint64_t from, const char *text,
                   bool at_line) {
    char key[1024];
    struct sought *found = NULL;
    int n = snprintf(key, sizeof(key), "%d %ju %s", at_line, (uintmax_t)from, text);

    if (from >= (uint64_t)s->facts.st_size)
        return WC_NOWHERE;
    if (n < 0 || (size_t)n >= sizeof(key))
        return find(s, from, text, at_line);
    found = hash_find_text(s->sought, key);
    if (found || !(found = wc_arena_take(&p->memory.arena, sizeof(*found))))
        return found ? found->at : find(s, from, text, at_line);
    found->key = wc_arena_string(&p->memory.arena, key);
    found->at = find(s, from, text, at_line);
    if (found->key)
        hash_add(&s->sought, found, found->key, (size_t)n);
    return found->at;
}

void seen_begin(struct seen_paths *p, const struct below *below) {
    memset(p, 0, sizeof(*p));
    p->below = below;
    heap_arena_begin(&p->memory);
}

void seen_end(struct seen_paths *p) {
    struct seen *next;

    for (struct seen *s = p->all; s; s = next) {
        next = s->hh.next;
        hash_remove(&p->all, s);
        hash_clear(&s->sought);
        free((char *)(uintptr_t)s->path);
        free((const char **)(uintptr_t)s->names);
        free(s->bytes);
        free(s);
    }
    heap_arena_end(&p->memory);
}
