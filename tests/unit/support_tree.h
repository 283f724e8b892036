/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of its own that a test fills with files, and the view of the file system whose root
 * it is: "/usr/lib/x" is "<directory>/usr/lib/x".
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_TREE_H
#define WHICHCUDNN_TESTS_SUPPORT_TREE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"
#include "support_place.h"

struct tree {
    char root[64];
    long calls;         /* of the view, so far */
    long fails_at;      /* this call and all later ones fail; 0: none */
    const char *closed; /* a directory that is not to be entered; NULL: none */
    struct wc_files files;
};

static inline void tree_fail(const char *what) {
    perror(what);
    abort();
}

static inline bool tree_down(struct tree *t) {
    t->calls++;
    return t->fails_at && t->calls >= t->fails_at;
}

static inline void tree_path(const struct tree *t, const char *path, char out[PATH_MAX]) {
    snprintf(out, PATH_MAX, "%s%s", t->root, path);
}

static inline bool tree_read(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                             size_t *n) {
    struct tree *t = ctx;
    char real[PATH_MAX];
    tree_path(t, path, real);
    *n = 0;
    int fd = tree_down(t) ? -1 : open(real, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, to, cap, (off_t)offset);
    close(fd);
    *n = got > 0 ? (size_t)got : 0;
    return got >= 0;
}

static inline bool tree_closes(const struct tree *t, const char *path) {
    size_t n = t->closed ? strlen(t->closed) : 0;
    return n && strncmp(path, t->closed, n) == 0 && path[n] == '/' &&
           path[n + strspn(path + n, "/")];
}

static inline bool tree_facts(void *ctx, const char *path, struct wc_file_stat *out) {
    struct tree *t = ctx;
    char real[PATH_MAX];
    struct stat st;
    tree_path(t, path, real);
    if (tree_down(t) || stat(real, &st) != 0 || tree_closes(t, path)) {
        *out = (struct wc_file_stat){.closed = tree_closes(t, path)};
        return false;
    }
    *out = (struct wc_file_stat){.device = st.st_dev,
                                 .inode = st.st_ino,
                                 .size = (uint64_t)st.st_size,
                                 .mtime = st.st_mtime,
                                 .regular = S_ISREG(st.st_mode),
                                 .directory = S_ISDIR(st.st_mode)};
    return true;
}

static inline bool tree_list(void *ctx, const char *dir, bool (*each)(void *, const char *),
                             void *arg) {
    struct tree *t = ctx;
    char real[PATH_MAX];
    tree_path(t, dir, real);
    DIR *d = tree_down(t) ? NULL : opendir(real);
    if (!d)
        return false;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !each(arg, e->d_name))
            break;
    closedir(d);
    return true;
}

static inline bool tree_real_path(void *ctx, const char *path, char *to, size_t cap) {
    (void)ctx;
    return snprintf(to, cap, "%s", path) < (int)cap;
}

static inline void tree_begin(struct tree *t) {
    memset(t, 0, sizeof *t);
    temporary_name(t->root, sizeof(t->root));
    if (!mkdtemp(t->root))
        tree_fail(t->root);
    t->files = (struct wc_files){t, tree_read, tree_facts, tree_list, tree_real_path, NULL, NULL};
}

static inline void tree_put(struct tree *t, const char *path, const void *bytes, size_t n) {
    char real[PATH_MAX];
    tree_path(t, path, real);
    for (char *slash = real + strlen(t->root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(real, 0777) != 0 && errno != EEXIST)
            tree_fail(real);
        *slash = '/';
    }
    FILE *f = fopen(real, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        tree_fail(real);
}

static inline void tree_write(struct tree *t, const char *path, const char *text) {
    tree_put(t, path, text, strlen(text));
}

static inline void tree_remove_below(const char *real) {
    char below[PATH_MAX];
    DIR *d = opendir(real);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (snprintf(below, sizeof below, "%s/%s", real, e->d_name) >= (int)sizeof below)
            continue;
        if (unlink(below) != 0)
            tree_remove_below(below);
    }
    if (d)
        closedir(d);
    rmdir(real);
}

static inline void tree_end(struct tree *t) {
    tree_remove_below(t->root);
}

#endif
