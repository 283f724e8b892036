/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "seen.h"

#define LINKS_MOST 40 /* as the kernel: MAXSYMLINKS */

enum { PAGE = 4096, SMALL = 64 << 10 };

/* ---- what is remembered ---- */

struct disk_memory {
    struct seen_paths seen;
    struct way *ways;
    unsigned changed; /* the disk's, of the ways */
};

/* To a directory, through links and the layer. */
struct way {
    UT_hash_handle hh;
    char *from;
    int error;
    char *to; /* as this computer has it */
};

static void forget_ways(struct disk_memory *m) {
    struct way *next;

    for (struct way *w = m->ways; w; w = next) {
        next = w->hh.next;
        hash_remove(&m->ways, w);
        free(w->from);
        free(w->to);
        free(w);
    }
}

/* ---- below another root ---- */

struct walk {
    const struct disk *disk; /* NULL: this computer's */
    const char *root;
    const struct disk_layer *layer;
    struct disk_entry entry; /* of `at` */
    struct seen *seen;       /* of `at`, where it is remembered and was looked at */
    char at[PATH_MAX];       /* so far, without links */
    char rest[PATH_MAX];     /* still to be gone */
    int links;
};

static bool fail(int error) {
    errno = error;
    return false;
}

static struct disk_entry entry_at(const struct walk *w) {
    const char *inside = w->at + strlen(w->root);

    if (!w->layer)
        return (struct disk_entry){.kind = DISK_AS_IT_IS};
    return w->layer->at(w->layer->ctx, inside[0] ? inside : "/");
}

/* n: of w->at. */
static void go_back(struct walk *w, size_t n) {
    w->at[n] = '\0';
    w->entry = entry_at(w);
    w->seen = NULL;
}

static void go_up(struct walk *w) {
    char *slash = strrchr(w->at + strlen(w->root), '/');

    go_back(w, slash ? (size_t)(slash - w->at) : strlen(w->at));
}

static const struct below *below_of(const struct disk *d) {
    static const struct below everywhere = {.fd = -1};

    return d ? &d->below : &everywhere;
}

static bool look(struct walk *w, struct stat *facts) {
    struct disk_memory *m = w->disk ? w->disk->memory : NULL;

    w->seen = m ? seen_at(&m->seen, w->at) : NULL;
    if (!w->seen)
        return below_lstat(below_of(w->disk), w->at, facts);
    *facts = w->seen->facts;
    errno = w->seen->error;
    return w->seen->error == 0;
}

static ssize_t target_of(const struct walk *w, char to[PATH_MAX]) {
    const char *target = w->seen ? seen_target(&w->disk->memory->seen, w->seen) : NULL;

    if (!w->seen)
        return below_readlink(below_of(w->disk), w->at, to, PATH_MAX - 1);
    if (!target)
        return -1;
    stpcpy(to, target);
    return (ssize_t)strlen(target);
}

/* Where the link at w->at leads, in front of what is still to be gone. */
static bool follow(struct walk *w) {
    const bool made = w->entry.kind == DISK_LINK;
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t n = made ? (ssize_t)strnlen(w->entry.target, sizeof(target)) : target_of(w, target);

    if (n < 0 || (size_t)n == sizeof(target))
        return n < 0 ? false : fail(ENAMETOOLONG);
    if (made)
        memcpy(target, w->entry.target, (size_t)n);
    if (++w->links > LINKS_MOST)
        return fail(ELOOP);
    target[n] = '\0';
    memcpy(rest, w->rest, sizeof(rest));
    if ((size_t)n + 1 + strlen(rest) >= sizeof(w->rest))
        return fail(ENAMETOOLONG);
    stpcpy(stpcpy(stpcpy(w->rest, target), "/"), rest);
    if (target[0] == '/')
        go_back(w, strlen(w->root));
    else
        go_up(w);
    return true;
}

/* True: the layer says what is there. */
static bool go_down_layer(struct walk *w, bool *good) {
    const bool last = w->rest[strspn(w->rest, "/")] == '\0';

    w->entry = entry_at(w);
    w->seen = NULL;
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
    if (!look(w, &facts))
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

static bool is_walked(const struct disk *d) {
    return d && (d->root[0] || d->layer || d->memory);
}

static void walk_begin(struct walk *w, const struct disk *d) {
    w->disk = d;
    w->root = root_of(d);
    w->layer = d ? d->layer : NULL;
    w->entry = (struct disk_entry){.kind = DISK_AS_IT_IS};
    w->seen = NULL;
    w->links = 0;
}

/* n: of w->rest. */
static struct way *way_to(const struct walk *w, size_t n) {
    struct disk_memory *m = w->disk->memory;
    struct walk all;
    struct way *way;

    if (m->changed != w->disk->changed)
        forget_ways(m);
    m->changed = w->disk->changed;
    way = hash_find(m->ways, w->rest, n);
    if (way)
        return way;
    way = must_allocate(sizeof(*way));
    way->from = must_format("%.*s", (int)n, w->rest);
    walk_begin(&all, w->disk);
    stpcpy(all.at, w->at);
    stpcpy(all.rest, way->from);
    way->error = go(&all) ? 0 : errno ?: ENOENT;
    way->to = must_copy(all.at);
    hash_add(&m->ways, way, way->from, n);
    return way;
}

/* Most paths lie in a directory that was gone to before. */
static bool go_remembered(struct walk *w) {
    const char *name = strrchr(w->rest, '/');
    const struct way *way;
    char rest[NAME_MAX + 2];

    stpcpy(w->at, w->root);
    if (!w->disk->memory || !name || name == w->rest || !name[1] || strcmp(name, "/.") == 0 ||
        strcmp(name, "/..") == 0 || strlen(name) >= sizeof(rest))
        return go(w);
    way = way_to(w, (size_t)(name - w->rest));
    if (way->error)
        return fail(way->error);
    stpcpy(rest, name);
    stpcpy(w->at, way->to);
    stpcpy(w->rest, rest);
    return go(w);
}

/* Of a path that begins where ours do, below a layer. */
static bool add_own_directory(const struct walk *w, const char *path, char to[PATH_MAX]) {
    if (path[0] == '/' || w->root[0] || !is_walked(w->disk)) {
        to[0] = '\0';
        return true;
    }
    return getcwd(to, PATH_MAX) != NULL;
}

struct outside {
    char path[PATH_MAX]; /* by which this machine has it */
    struct disk_entry entry;
    struct seen *seen; /* NULL: not remembered */
};

/* Below another root or a layer with all links followed. */
static bool outside_of(const struct disk *d, const char *path, struct outside *to) {
    struct walk w;
    const char *directory = d && path[0] != '/' ? d->directory : NULL;
    char own[PATH_MAX];

    walk_begin(&w, d);
    to->entry = w.entry;
    to->seen = NULL;
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
    if (!is_walked(d)) {
        stpcpy(to->path, w.rest);
        return true;
    }
    if (!go_remembered(&w))
        return false;
    stpcpy(to->path, w.at[0] ? w.at : "/");
    to->entry = w.entry;
    to->seen = w.seen;
    return true;
}

/* ---- struct wc_files ---- */

int disk_open(const struct disk *d, const char *path, struct stat *facts) {
    struct outside o;
    int fd = -1;

    if (!outside_of(d, path, &o))
        return -1;
    if (o.entry.kind == DISK_FILE)
        fd = fcntl(o.entry.fd, F_DUPFD_CLOEXEC, 0);
    else
        fd = below_open(below_of(d), o.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
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

/* A file whose bytes are remembered; NULL: it is none. n: as many are wanted at once, of a library
 * the first few. */
static struct seen *remembered(const struct disk *d, const char *path, size_t n) {
    struct outside o;

    if (!d || !d->memory || !outside_of(d, path, &o) || !o.seen ||
        (!o.seen->bytes && n < PAGE && o.seen->facts.st_size > SMALL))
        return NULL;
    return seen_bytes(&d->memory->seen, o.seen) ? o.seen : NULL;
}

static bool find_seen(void *ctx, const char *path, uint64_t from, const char *text, bool at_line,
                      uint64_t *at) {
    const struct disk *d = ctx;
    struct seen *s = remembered(d, path, PAGE);

    if (s)
        *at = seen_find(&d->memory->seen, s, from, text, at_line);
    return s != NULL;
}

static bool read_seen(const struct disk *d, const char *path, uint64_t offset, void *to, size_t cap,
                      size_t *n) {
    const struct seen *s = remembered(d, path, cap);

    if (!s)
        return false;
    *n = offset < (uint64_t)s->facts.st_size ? (size_t)s->facts.st_size - offset : 0;
    *n = *n < cap ? *n : cap;
    memcpy(to, s->bytes + (*n ? offset : 0), *n);
    return true;
}

static bool read_at(void *ctx, const char *path, uint64_t offset, void *to, size_t cap, size_t *n) {
    struct stat facts;
    int fd;

    if (read_seen(ctx, path, offset, to, cap, n))
        return true;
    fd = disk_open(ctx, path, &facts);

    *n = 0;
    if (fd < 0)
        return false;
    errno = 0;
    *n = disk_read(fd, offset, to, cap);
    close(fd);
    return *n > 0 || errno == 0;
}

static bool stat_of(const struct disk *d, const char *path, struct stat *facts) {
    const struct below *below = below_of(d);
    struct outside o;

    if (!outside_of(d, path, &o))
        return false;
    if (o.entry.kind == DISK_FILE)
        return fstat(o.entry.fd, facts) == 0;
    if (o.entry.kind == DISK_DIRECTORY)
        *facts = (struct stat){.st_mode = S_IFDIR | 0755};
    else if (o.seen)
        *facts = o.seen->facts;
    else if (below->fd >= 0)
        return below_lstat(below, o.path, facts);
    else
        return stat(o.path[0] ? o.path : ".", facts) == 0; /* a root may be a link */
    return true;
}

static bool facts_of(void *ctx, const char *path, struct wc_file_stat *out) {
    struct stat facts;

    if (!stat_of(ctx, path, &facts)) {
        *out = (struct wc_file_stat){.closed = errno == EACCES};
        return false;
    }
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

struct listing {
    const struct disk *disk;
    const char *inside;
    bool (*each)(void *arg, const char *name);
    void *arg;
    bool layered, more;
};

static void list_one(struct listing *l, const char *name) {
    if (!l->layered || !is_layered(l->disk, l->inside, name))
        l->more = l->each(l->arg, name);
}

static bool list_seen(struct listing *l, struct seen *s) {
    const char *const *name = seen_names(&l->disk->memory->seen, s);
    bool there = name != NULL;

    for (; name && *name && l->more; name++)
        list_one(l, *name);
    return there;
}

static bool list_disk(struct listing *l, const char *path) {
    DIR *d = below_list(below_of(l->disk), path);

    if (!d)
        return false;
    for (struct dirent *e; l->more && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            list_one(l, e->d_name);
    closedir(d);
    return true;
}

static bool list(void *ctx, const char *dir, bool (*each)(void *arg, const char *name), void *arg) {
    const struct disk *disk = ctx;
    struct listing l = {.disk = disk, .each = each, .arg = arg, .more = true};
    struct outside o;

    if (!outside_of(disk, dir, &o))
        return false;
    l.inside = o.path[strlen(root_of(disk))] ? o.path + strlen(root_of(disk)) : "/";
    l.layered = disk && disk->layer && disk->layer->is_in(disk->layer->ctx, l.inside);
    if (o.entry.kind != DISK_DIRECTORY && !(o.seen ? list_seen(&l, o.seen) : list_disk(&l, o.path)))
        return false;
    if (l.more && l.layered)
        disk->layer->list(disk->layer->ctx, l.inside, each, arg);
    return true;
}

static bool real_path(void *ctx, const char *path, char *to, size_t cap) {
    const struct disk *d = ctx;
    const char *root = root_of(d), *inside;
    char real[PATH_MAX];
    struct outside o;

    if (!outside_of(d, path, &o) || (!is_walked(d) && !realpath(o.path, real)))
        return false;
    inside = (is_walked(d) ? o.path : real) + strlen(root);
    inside = inside[0] ? inside : "/";
    if (strlen(inside) >= cap)
        return false;
    stpcpy(to, inside);
    return true;
}

const struct wc_files disk_files = {NULL, read_at, facts_of, list, real_path, NULL, NULL};

void disk_remember(struct disk *d) {
    d->memory = must_allocate(sizeof(*d->memory));
    seen_begin(&d->memory->seen, &d->below);
    d->files.find = find_seen;
}

void disk_begin(struct disk *d, const char *root) {
    size_t n;

    *d = (struct disk){.layer = NULL};
    d->root = must_copy(root ? root : "");
    for (n = strlen(d->root); n > 0 && d->root[n - 1] == '/'; n--)
        d->root[n - 1] = '\0';
    below_begin(&d->below, d->root);
    d->files = (struct wc_files){d, read_at, facts_of, list, real_path, NULL, NULL};
}

void disk_end(struct disk *d) {
    if (d->memory) {
        forget_ways(d->memory);
        seen_end(&d->memory->seen);
    }
    free(d->memory);
    below_end(&d->below);
    free(d->root);
}

char *disk_text(const char *path, size_t most, size_t *n) {
    struct stat facts;
    int fd = disk_open(NULL, path, &facts);
    char *text;

    *n = 0;
    if (fd < 0)
        return NULL;
    if (facts.st_size < (off_t)most)
        most = (size_t)facts.st_size;
    text = must_allocate(most + 1);
    errno = 0;
    *n = disk_read(fd, 0, text, most);
    close(fd);
    if (*n == most || errno == 0)
        return text;
    free(text);
    return NULL;
}
