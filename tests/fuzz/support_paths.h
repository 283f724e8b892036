/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system out of bytes: "PATH\nCONTENT\xff" for each file, directories by what lies below.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_PATHS_H
#define WHICHCUDNN_TESTS_SUPPORT_PATHS_H

#include "core/base/files.h"
#include "support_fuzz.h"

enum { PATHS_MOST = 48, NAME_MOST = 255 };

struct paths {
    struct {
        const char *path;
        size_t path_n;
        const uint8_t *content;
        size_t n;
    } file[PATHS_MOST];
    size_t files;
    unsigned calls, fails_at; /* this call and all later ones fail; 0: none */
};

static inline void paths_read_from(struct paths *p, const uint8_t *data, size_t size) {
    p->files = 0;
    while (size && p->files < PATHS_MOST) {
        const uint8_t *end = memchr(data, 0xff, size), *line;
        size_t n = end ? (size_t)(end - data) : size;
        line = memchr(data, '\n', n);
        size_t path = line ? (size_t)(line - data) : n;
        if (!memchr(data, 0, path)) {
            p->file[p->files].path = (const char *)data;
            p->file[p->files].path_n = path;
            p->file[p->files].content = data + path + (line != NULL);
            p->file[p->files++].n = n - path - (line != NULL);
        }
        n += end != NULL;
        data += n;
        size -= n;
    }
}

static inline bool paths_down(struct paths *p) {
    p->calls++;
    return p->fails_at && p->calls >= p->fails_at;
}

static inline int paths_find(const struct paths *p, const char *path) {
    size_t n = strlen(path);
    for (size_t i = 0; i < p->files; i++)
        if (p->file[i].path_n == n && memcmp(p->file[i].path, path, n) == 0)
            return (int)i;
    return -1;
}

static inline bool paths_read(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                              size_t *n) {
    struct paths *p = ctx;
    int i = paths_find(p, path);
    *n = 0;
    if (paths_down(p) || i < 0)
        return false;
    if (offset < p->file[i].n)
        *n = p->file[i].n - offset < cap ? p->file[i].n - offset : cap;
    if (*n)
        memcpy(to, p->file[i].content + offset, *n);
    return true;
}

static inline bool paths_facts(void *ctx, const char *path, struct wc_file_stat *out) {
    struct paths *p = ctx;
    int i = paths_find(p, path);
    if (paths_down(p) || i < 0)
        return false;
    *out = (struct wc_file_stat){
        .device = 1, .inode = (uint64_t)i + 1, .size = p->file[i].n, .mtime = 1, .regular = true};
    return true;
}

/* Each file and directory once or more often: a reader that cares must not. The kernel gives names
 * of at most 255 bytes. */
static inline bool paths_list(void *ctx, const char *dir, bool (*each)(void *, const char *),
                              void *arg) {
    struct paths *p = ctx;
    size_t n = strlen(dir);
    bool there = false;
    if (paths_down(p))
        return false;
    for (size_t i = 0; i < p->files; i++) {
        const char *path = p->file[i].path, *below = path + n + 1;
        char name[NAME_MOST + 1];
        if (p->file[i].path_n <= n + 1 || memcmp(path, dir, n) != 0 || path[n] != '/')
            continue;
        size_t most = p->file[i].path_n - n - 1;
        const char *slash = memchr(below, '/', most);
        size_t length = slash ? (size_t)(slash - below) : most;
        there = true;
        if (!length || length > NAME_MOST)
            continue;
        memcpy(name, below, length);
        name[length] = 0;
        if (!each(arg, name))
            break;
    }
    return there;
}

static inline bool paths_real_path(void *ctx, const char *path, char *to, size_t cap) {
    (void)ctx;
    return snprintf(to, cap, "%s", path) < (int)cap;
}

#endif
