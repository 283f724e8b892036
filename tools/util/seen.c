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

#define FILE_MOST ((off_t)4 << 20)
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

static bool read_whole(const struct seen_paths *p, const char *path, unsigned char *to,
                       size_t size) {
    OWNED_FD int fd = below_open(p->below, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    size_t done = 0;
    ssize_t n = 1;

    while (fd >= 0 && done < size && n > 0)
        if ((n = pread(fd, to + done, size - done, (off_t)done)) > 0)
            done += (size_t)n;
    return done == size;
}

const unsigned char *seen_bytes(struct seen_paths *p, struct seen *s) {
    const size_t size = (size_t)s->facts.st_size;

    /* What has no size may hold something all the same: /proc. */
    if (s->bytes || s->error || !S_ISREG(s->facts.st_mode) || size == 0 ||
        s->facts.st_size > FILE_MOST || size > BYTES_MOST - p->bytes)
        return s->bytes;
    s->bytes = must_allocate(size);
    if (read_whole(p, s->path, s->bytes, size)) {
        p->bytes += size;
        return s->bytes;
    }
    free(s->bytes);
    s->bytes = NULL;
    return NULL;
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
