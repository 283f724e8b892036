/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

#define LINKS_MOST 40 /* as the kernel: MAXSYMLINKS */

/* ---- below another root ---- */

struct walk {
    const char *root;
    const struct disk_layer *layer;
    struct disk_entry entry; /* of `at` */
    char at[PATH_MAX];       /* so far, without links */
    char rest[PATH_MAX];     /* still to be gone */
    int links;
};

static bool fail(int error) {
    errno = error;
    return false;
}

static void go_up(struct walk *w) {
    char *slash = strrchr(w->at + strlen(w->root), '/');

    if (slash)
        *slash = '\0';
}

/* Where the link at w->at leads, in front of what is still to be gone. */
static bool follow(struct walk *w) {
    const bool made = w->entry.kind == DISK_LINK;
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t n = made ? (ssize_t)strnlen(w->entry.target, sizeof(target))
                     : readlink(w->at, target, sizeof(target) - 1);

    if (n < 0 || (size_t)n == sizeof(target))
        return n < 0 ? false : fail(ENAMETOOLONG);
    if (made)
        memcpy(target, w->entry.target, (size_t)n);
    w->entry.kind = DISK_AS_IT_IS;
    if (++w->links > LINKS_MOST)
        return fail(ELOOP);
    target[n] = '\0';
    memcpy(rest, w->rest, sizeof(rest));
    if ((size_t)n + 1 + strlen(rest) >= sizeof(w->rest))
        return fail(ENAMETOOLONG);
    stpcpy(stpcpy(stpcpy(w->rest, target), "/"), rest);
    if (target[0] == '/')
        w->at[strlen(w->root)] = '\0';
    else
        go_up(w);
    return true;
}

static struct disk_entry entry_at(const struct walk *w) {
    const char *inside = w->at + strlen(w->root);

    if (!w->layer)
        return (struct disk_entry){.kind = DISK_AS_IT_IS};
    return w->layer->at(w->layer->ctx, inside[0] ? inside : "/");
}

/* True: the layer says what is there. */
static bool go_down_layer(struct walk *w, bool *good) {
    const bool last = w->rest[strspn(w->rest, "/")] == '\0';

    w->entry = entry_at(w);
    switch (w->entry.kind) {
    case DISK_AS_IT_IS:
        return false;
    case DISK_GONE:
        *good = fail(ENOENT);
        break;
    case DISK_LINK:
        *good = follow(w);
        break;
    case DISK_FILE:
        *good = last || fail(ENOTDIR);
        break;
    case DISK_DIRECTORY:
        *good = true;
    }
    return true;
}

static bool go_down(struct walk *w, const char *name, size_t n) {
    size_t used = strlen(w->at);
    struct stat facts;
    bool good = false;

    if (used + 1 + n >= sizeof(w->at))
        return fail(ENAMETOOLONG);
    w->at[used] = '/';
    memcpy(w->at + used + 1, name, n);
    w->at[used + 1 + n] = '\0';
    memmove(w->rest, name + n, strlen(name + n) + 1);
    if (go_down_layer(w, &good))
        return good;
    if (lstat(w->at, &facts) != 0)
        return false;
    if (S_ISLNK(facts.st_mode))
        return follow(w);
    return S_ISDIR(facts.st_mode) || w->rest[strspn(w->rest, "/")] == '\0' ? true : fail(ENOTDIR);
}

static bool go(struct walk *w) {
    while (w->rest[0]) {
        const char *name = w->rest + strspn(w->rest, "/");
        size_t n = strcspn(name, "/");

        if (n == 0)
            return true;
        if ((n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.')) {
            if (n == 2)
                go_up(w);
            memmove(w->rest, name + n, strlen(name + n) + 1);
        } else if (!go_down(w, name, n)) {
            return false;
        }
    }
    return true;
}

static const char *root_of(const struct disk *d) {
    return d ? d->root : "";
}

/* Of a path that begins where ours do, below a layer. */
static bool add_own_directory(const struct walk *w, const char *path, char to[PATH_MAX]) {
    if (path[0] == '/' || w->root[0] || !w->layer) {
        to[0] = '\0';
        return true;
    }
    return getcwd(to, PATH_MAX) != NULL;
}

/* The path by which this machine has it; below another root or a layer with all links followed. */
static bool outside_of(const struct disk *d, const char *path, char to[PATH_MAX],
                       struct disk_entry *entry) {
    struct walk w = {.root = root_of(d), .layer = d ? d->layer : NULL};
    const char *directory = d && path[0] != '/' ? d->directory : NULL;
    char own[PATH_MAX];

    *entry = (struct disk_entry){.kind = DISK_AS_IT_IS};
    if (directory && !directory[0])
        return fail(ENOENT);
    if (!directory && !add_own_directory(&w, path, own))
        return false;
    if (!directory)
        directory = own[0] ? own : NULL;
    if (strlen(path) + (directory ? strlen(directory) + 1 : 0) >= PATH_MAX ||
        strlen(w.root) >= PATH_MAX)
        return fail(ENAMETOOLONG);
    stpcpy(directory ? stpcpy(stpcpy(w.rest, directory), "/") : w.rest, path);
    if (!w.root[0] && !w.layer) {
        stpcpy(to, w.rest);
        return true;
    }
    stpcpy(w.at, w.root);
    if (!go(&w))
        return false;
    stpcpy(to, w.at[0] ? w.at : "/");
    *entry = entry_at(&w);
    return true;
}

/* ---- struct wc_files ---- */

int disk_open(const struct disk *d, const char *path, struct stat *facts) {
    char outside[PATH_MAX];
    struct disk_entry entry;
    int fd = -1;

    if (!outside_of(d, path, outside, &entry))
        return -1;
    if (entry.kind == DISK_FILE)
        fd = fcntl(entry.fd, F_DUPFD_CLOEXEC, 0);
    else
        fd = open(outside, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, facts) == 0 && S_ISREG(facts->st_mode))
        return fd;
    close(fd);
    errno = S_ISDIR(facts->st_mode) ? EISDIR : EINVAL;
    return -1;
}

size_t disk_read(int fd, uint64_t offset, void *to, size_t n) {
    size_t done = 0;
    ssize_t got;

    while (done < n) {
        got = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static bool read_at(void *ctx, const char *path, uint64_t offset, void *to, size_t cap, size_t *n) {
    struct stat facts;
    int fd = disk_open(ctx, path, &facts);

    *n = 0;
    if (fd < 0)
        return false;
    errno = 0;
    *n = disk_read(fd, offset, to, cap);
    close(fd);
    return *n > 0 || errno == 0;
}

static bool stat_of(const struct disk *d, const char *path, struct stat *facts) {
    char outside[PATH_MAX];
    struct disk_entry entry;

    if (!outside_of(d, path, outside, &entry))
        return false;
    if (entry.kind == DISK_FILE)
        return fstat(entry.fd, facts) == 0;
    if (entry.kind == DISK_DIRECTORY) {
        *facts = (struct stat){.st_mode = S_IFDIR | 0755};
        return true;
    }
    return stat(outside[0] ? outside : ".", facts) == 0;
}

static bool facts_of(void *ctx, const char *path, struct wc_file_stat *out) {
    struct stat facts;

    if (!stat_of(ctx, path, &facts))
        return false;
    *out = (struct wc_file_stat){.device = facts.st_dev,
                                 .inode = facts.st_ino,
                                 .size = (uint64_t)facts.st_size,
                                 .mtime = facts.st_mtime,
                                 .regular = S_ISREG(facts.st_mode),
                                 .directory = S_ISDIR(facts.st_mode)};
    return true;
}

/* Is it another way in the layer, where it is listed apart or not at all? */
static bool is_layered(const struct disk *d, const char *inside, const char *name) {
    char path[PATH_MAX];

    if (!d || !d->layer || strlen(inside) + strlen(name) + 2 > sizeof(path))
        return false;
    stpcpy(stpcpy(stpcpy(path, inside), strcmp(inside, "/") == 0 ? "" : "/"), name);
    return d->layer->at(d->layer->ctx, path).kind != DISK_AS_IT_IS;
}

static bool list(void *ctx, const char *dir, bool (*each)(void *arg, const char *name), void *arg) {
    const struct disk *disk = ctx;
    struct disk_entry entry;
    char outside[PATH_MAX];
    const char *inside;
    bool more = true;
    DIR *d;

    if (!outside_of(disk, dir, outside, &entry))
        return false;
    inside = outside[strlen(root_of(disk))] ? outside + strlen(root_of(disk)) : "/";
    d = entry.kind == DISK_DIRECTORY ? NULL : opendir(outside);
    if (!d && entry.kind != DISK_DIRECTORY)
        return false;
    for (struct dirent *e; d && more && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !is_layered(disk, inside, e->d_name))
            more = each(arg, e->d_name);
    if (d)
        closedir(d);
    if (more && disk && disk->layer)
        disk->layer->list(disk->layer->ctx, inside, each, arg);
    return true;
}

static bool real_path(void *ctx, const char *path, char *to, size_t cap) {
    const struct disk *d = ctx;
    const char *root = root_of(d), *inside;
    char outside[PATH_MAX], found[PATH_MAX];
    const bool walked = root[0] || (d && d->layer);
    struct disk_entry entry;

    if (!outside_of(d, path, walked ? found : outside, &entry) ||
        (!walked && !realpath(outside, found)))
        return false;
    inside = found[strlen(root)] ? found + strlen(root) : "/";
    if (strlen(inside) >= cap)
        return false;
    stpcpy(to, inside);
    return true;
}

const struct wc_files disk_files = {NULL, read_at, facts_of, list, real_path};

void disk_begin(struct disk *d, const char *root) {
    size_t n;

    d->directory = NULL;
    d->layer = NULL;
    d->root = must_copy(root ? root : "");
    for (n = strlen(d->root); n > 0 && d->root[n - 1] == '/'; n--)
        d->root[n - 1] = '\0';
    d->files = (struct wc_files){d, read_at, facts_of, list, real_path};
}

void disk_end(struct disk *d) {
    free(d->root);
}
