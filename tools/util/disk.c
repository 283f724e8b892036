/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>
#include <uthash.h>

#include "core/base/reading.h"
#include "memory.h"

#define LINKS_MOST 40 /* as the kernel: MAXSYMLINKS */

/* ---- whose rights count ---- */

static gid_t own_groups[NGROUPS_MAX];
static int own_count = -1; /* these are our own rights */

void disk_as_user(uid_t user) {
    const bool differs = geteuid() == 0 && user != 0 && own_count < 0;
    const struct passwd *known = differs ? getpwuid(user) : NULL;
    const gid_t group = known ? known->pw_gid : (gid_t)user;

    if (!differs || (own_count = getgroups(NGROUPS_MAX, own_groups)) < 0)
        return;
    if (known ? initgroups(known->pw_name, group) : setgroups(1, &group)) {
        own_count = -1;
        return;
    }
    setfsgid(group);
    setfsuid(user); /* the kernel takes from root what lets it read all */
}

void disk_as_self(void) {
    if (own_count < 0)
        return;
    setfsuid(geteuid());
    setfsgid(getegid());
    setgroups((size_t)own_count, own_groups);
    own_count = -1;
}

/* ---- what is at a path, looked at once ---- */

#define HEAD 64 /* what a search for libraries reads of a file */
#define SMALL ((size_t)64 << 10)
#define FILE_MOST ((size_t)4 << 20)
#define BYTES_MOST ((size_t)64 << 20)

struct sought {
    UT_hash_handle hh;
    const char *key;
    uint64_t at;
};

struct seen {
    UT_hash_handle hh;
    char *path;
    int error; /* of lstat; 0: it is there */
    struct stat facts;
    const char *target;    /* of a link, once asked for */
    const char **names;    /* of a directory, once asked for, NULL at the end */
    unsigned char *bytes;  /* of a file, once asked for; NULL: not kept */
    size_t kept;           /* how many of these: of a large file a loader's first look only */
    struct sought *sought; /* in these */
};

struct disk_memory {
    struct heap_arena memory;
    struct seen *all;
    size_t bytes; /* of files */
};

/* Without links in its directories. Never NULL. */
static struct seen *seen_at(const struct disk *d, const char *path) {
    struct seen *s;

    HASH_FIND_STR(d->seen->all, path, s);
    if (s)
        return s;
    s = must_allocate(sizeof(*s));
    s->path = must_copy(path);
    s->error = below_lstat(&d->below, path, &s->facts) ? 0 : errno;
    HASH_ADD_STR(d->seen->all, path, s);
    return s;
}

/* NULL: errno. */
static const char *seen_target(const struct disk *d, struct seen *s) {
    char target[PATH_MAX];
    ssize_t n;

    if (s->target || (n = below_readlink(&d->below, s->path, target, sizeof(target))) < 0)
        return s->target;
    if ((size_t)n < sizeof(target))
        s->target = wc_arena_string_n(&d->seen->memory.arena, target, (size_t)n);
    else
        errno = ENAMETOOLONG;
    return s->target;
}

/* Of a directory, a NULL at the end; the caller frees the list. NULL: errno. */
static const char **names_in(const struct below *below, const char *path, struct wc_arena *memory) {
    OWNED_DIR DIR *directory = below_list(below, path);
    const char **names = NULL;
    size_t n = 0;

    if (!directory)
        return NULL;
    for (struct dirent *e; (e = readdir(directory));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            *MUST_ADD(names, n) = wc_arena_string(memory, e->d_name);
    *MUST_ADD(names, n) = NULL;
    return names;
}

/* Does s->bytes hold the file's bytes up to that one now, or up to its end? */
static bool seen_bytes(const struct disk *d, struct seen *s, uint64_t end) {
    const size_t size = s->error || !S_ISREG(s->facts.st_mode) ? 0 : (size_t)s->facts.st_size;
    const size_t kept = end <= HEAD && size > SMALL ? HEAD : size;

    if (s->bytes && (s->kept == size || end <= s->kept))
        return true;
    /* What has no size may hold something all the same: /proc. */
    if (size == 0 || kept > FILE_MOST || kept > BYTES_MOST - d->seen->bytes)
        return false;
    OWNED_FD int fd = below_open(&d->below, s->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    s->bytes = must_grow(s->bytes, kept);
    s->kept = fd >= 0 && below_read(fd, 0, s->bytes, kept) == kept ? kept : 0;
    d->seen->bytes += s->kept;
    return s->kept > 0;
}

/* ---- the end of a path ---- */

struct place {
    char path[PATH_MAX]; /* by which this machine has it, without links */
    struct disk_entry entry;
    struct seen *seen; /* NULL: not remembered: of the layer, or the root itself */
};

static bool fail(int error) {
    errno = error;
    return false;
}

static void look(const struct disk *d, struct place *at) {
    const char *inside = at->path + strlen(d->root);

    at->seen = NULL;
    at->entry = d->layer ? d->layer->at(d->layer->ctx, inside[0] ? inside : "/")
                         : (struct disk_entry){.kind = DISK_AS_IT_IS};
}

/* path: from the disk's root. */
static bool go(const struct disk *d, const char *path, struct place *at) {
    static const mode_t modes[] = {
        [DISK_FILE] = S_IFREG, [DISK_LINK] = S_IFLNK, [DISK_DIRECTORY] = S_IFDIR};
    const size_t root = strlen(d->root);
    size_t used = root, n;
    char rest[PATH_MAX], behind[PATH_MAX];
    int links = 0;

    stpcpy(at->path, d->root);
    while ((n = strcspn(path += strspn(path, "/"), "/")) > 0) {
        const char *name = path, *target, *slash;
        path += n;
        if (n == 2 && strncmp(name, "..", n) == 0) {
            slash = strrchr(at->path + root, '/');
            used = slash ? (size_t)(slash - at->path) : used;
            at->path[used] = '\0';
            look(d, at);
        } else if (n > 1 || *name != '.') {
            if (used + 1 + n >= sizeof(at->path))
                return fail(ENAMETOOLONG);
            at->path[used] = '/';
            stpncpy(at->path + used + 1, name, n)[0] = '\0';
            look(d, at);
            if (at->entry.kind == DISK_AS_IT_IS)
                at->seen = seen_at(d, at->path);
            if (at->entry.kind == DISK_GONE || (at->seen && at->seen->error))
                return fail(at->seen ? at->seen->error : ENOENT);
            const mode_t mode = at->seen ? at->seen->facts.st_mode : modes[at->entry.kind];
            if (!S_ISLNK(mode)) {
                if (!S_ISDIR(mode) && path[strspn(path, "/")])
                    return fail(ENOTDIR);
                used += 1 + n;
                continue;
            }
            target = at->seen ? seen_target(d, at->seen) : at->entry.target;
            if (!target || ++links > LINKS_MOST)
                return target ? fail(ELOOP) : false;
            if (strlen(target) + 1 + strlen(path) >= sizeof(rest))
                return fail(ENAMETOOLONG);
            stpcpy(behind, path);
            stpcpy(stpcpy(stpcpy(rest, target), "/"), behind);
            path = rest;
            used = target[0] == '/' ? root : used;
            at->path[used] = '\0';
            look(d, at);
        }
    }
    return true;
}

/* With all links followed. d NULL: as it is. */
static bool outside_of(const struct disk *d, const char *path, struct place *to) {
    const char *directory = d && path[0] != '/' ? d->directory : NULL;
    char own[PATH_MAX], whole[PATH_MAX];

    to->entry = (struct disk_entry){.kind = DISK_AS_IT_IS};
    to->seen = NULL;
    if (directory && !directory[0])
        return fail(ENOENT);
    if (d && path[0] != '/' && !directory && !d->root[0] && !(directory = getcwd(own, sizeof(own))))
        return false;
    if (strlen(path) + (directory ? strlen(directory) + 1 : 0) >= PATH_MAX ||
        (d && strlen(d->root) >= PATH_MAX))
        return fail(ENAMETOOLONG);
    stpcpy(directory ? stpcpy(stpcpy(whole, directory), "/") : whole, path);
    if (d && !go(d, whole, to))
        return false;
    if (!d || !to->path[0])
        stpcpy(to->path, d ? "/" : whole);
    return true;
}

/* ---- struct wc_files ---- */

int disk_open(const struct disk *d, const char *path, struct stat *facts) {
    struct place o;
    int fd = -1;

    if (!outside_of(d, path, &o))
        return -1;
    if (o.entry.kind == DISK_FILE)
        fd = fcntl(o.entry.fd, F_DUPFD_CLOEXEC, 0);
    else
        fd = below_open(d ? &d->below : NULL, o.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, facts) == 0 && S_ISREG(facts->st_mode))
        return fd;
    close(fd);
    errno = S_ISDIR(facts->st_mode) ? EISDIR : EINVAL;
    return -1;
}

/* A file whose bytes up to that one are remembered; NULL: it is none. */
static struct seen *remembered(const struct disk *d, const char *path, uint64_t end) {
    struct place o;

    return outside_of(d, path, &o) && o.seen && seen_bytes(d, o.seen, end) ? o.seen : NULL;
}

static bool find_seen(void *ctx, const char *path, uint64_t from, const char *text, bool at_line,
                      uint64_t *at) {
    const struct disk *d = ctx;
    struct seen *s = remembered(d, path, UINT64_MAX);
    struct wc_arena *memory = &d->seen->memory.arena;
    OWNED char *key = must_format("%d %zu %s", at_line, (size_t)from, text);
    struct sought *found;

    *at = WC_NOWHERE;
    if (!s || from >= (uint64_t)s->facts.st_size)
        return s != NULL;
    HASH_FIND_STR(s->sought, key, found);
    if (found) {
        *at = found->at;
        return true;
    }
    const unsigned char *end = s->bytes + s->facts.st_size, *begin = s->bytes + from, *p = begin;
    for (; *at == WC_NOWHERE && p < end && (p = memmem(p, (size_t)(end - p), text, strlen(text)));
         p++)
        if (!at_line || (p == begin ? from == 0 : p[-1] == '\n'))
            *at = (uint64_t)(p - s->bytes);
    found = wc_arena_take(memory, sizeof(*found));
    if (found && (found->key = wc_arena_string(memory, key))) {
        found->at = *at;
        HASH_ADD_KEYPTR(hh, s->sought, found->key, strlen(key), found);
    }
    return true;
}

static bool read_at(void *ctx, const char *path, uint64_t offset, void *to, size_t cap, size_t *n) {
    const struct seen *s = ctx ? remembered(ctx, path, offset + cap) : NULL;
    struct stat facts;

    *n = 0;
    if (s) {
        *n = offset < s->kept ? s->kept - (size_t)offset : 0;
        *n = *n < cap ? *n : cap;
        memcpy(to, s->bytes + (*n ? offset : 0), *n);
        return true;
    }
    const int fd = disk_open(ctx, path, &facts);
    if (fd < 0)
        return false;
    errno = 0;
    *n = below_read(fd, offset, to, cap);
    close(fd);
    return *n > 0 || errno == 0;
}

static bool stat_of(const struct disk *d, const char *path, struct stat *facts) {
    struct place o;

    if (!outside_of(d, path, &o))
        return false;
    if (o.entry.kind == DISK_FILE)
        return fstat(o.entry.fd, facts) == 0;
    if (o.entry.kind == DISK_DIRECTORY)
        *facts = (struct stat){.st_mode = S_IFDIR | 0755};
    else if (o.seen)
        *facts = o.seen->facts;
    else if (d && d->below.fd >= 0)
        return below_lstat(&d->below, o.path, facts);
    else
        return stat(o.path, facts) == 0; /* a root may be a link */
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

static bool list(void *ctx, const char *dir, bool (*each)(void *arg, const char *name), void *arg) {
    const struct disk *d = ctx;
    const struct disk_layer *layer = d ? d->layer : NULL;
    struct heap_arena own;
    const char **names = NULL, *inside;
    bool is_there = true, more = true;
    struct place o;

    if (!outside_of(d, dir, &o))
        return false;
    inside = o.path + (d ? strlen(d->root) : 0);
    inside = inside[0] ? inside : "/";
    layer = layer && layer->is_in(layer->ctx, inside) ? layer : NULL;
    heap_arena_begin(&own);
    if (o.entry.kind != DISK_DIRECTORY) {
        if (d && o.seen && !o.seen->names)
            o.seen->names = names_in(&d->below, o.seen->path, &d->seen->memory.arena);
        names = o.seen ? o.seen->names : names_in(d ? &d->below : NULL, o.path, &own.arena);
        is_there = names != NULL;
    }
    for (const char **name = names; name && *name && more; name++) {
        OWNED char *path =
            layer ? must_format("%s/%s", strcmp(inside, "/") == 0 ? "" : inside, *name) : NULL;
        /* What the layer has in another way it lists apart, or not at all. */
        if (!layer || layer->at(layer->ctx, path).kind == DISK_AS_IT_IS)
            more = each(arg, *name);
    }
    if (is_there && more && layer)
        layer->list(layer->ctx, inside, each, arg);
    if (!o.seen)
        free(names);
    heap_arena_end(&own);
    return is_there;
}

static bool real_path(void *ctx, const char *path, char *to, size_t cap) {
    const struct disk *d = ctx;
    const char *inside;
    char real[PATH_MAX];
    struct place o;

    if (!outside_of(d, path, &o) || (!d && !realpath(o.path, real)))
        return false;
    inside = d ? o.path + strlen(d->root) : real;
    inside = inside[0] ? inside : "/";
    if (strlen(inside) >= cap)
        return false;
    stpcpy(to, inside);
    return true;
}

const struct wc_files disk_files = {NULL, read_at, facts_of, list, real_path, NULL, NULL};

void disk_begin(struct disk *d, const char *root) {
    size_t n;

    *d = (struct disk){.layer = NULL};
    d->root = must_copy(root ? root : "");
    for (n = strlen(d->root); n > 0 && d->root[n - 1] == '/'; n--)
        d->root[n - 1] = '\0';
    below_begin(&d->below, d->root);
    d->seen = must_allocate(sizeof(*d->seen));
    heap_arena_begin(&d->seen->memory);
    d->files = (struct wc_files){d, read_at, facts_of, list, real_path, find_seen, NULL};
}

void disk_end(struct disk *d) {
    struct seen *s, *next;

    HASH_ITER(hh, d->seen->all, s, next) {
        HASH_DEL(d->seen->all, s);
        HASH_CLEAR(hh, s->sought);
        free(s->path);
        free(s->names);
        free(s->bytes);
        free(s);
    }
    heap_arena_end(&d->seen->memory);
    free(d->seen);
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
    if (facts.st_size > 0 && facts.st_size < (off_t)most) /* of /proc it is not known */
        most = (size_t)facts.st_size;
    text = must_allocate(most + 1);
    errno = 0;
    *n = below_read(fd, 0, text, most);
    close(fd);
    if (*n == most || errno == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- mounts ---- */

void mount_points_read(struct mount_points *out,
                       bool (*wanted)(const char *point, const struct wc_mount_line *line)) {
    OWNED_FILE FILE *from = fopen("/proc/self/mountinfo", "re");
    OWNED char *line = NULL;
    char point[PATH_MAX];
    struct wc_mount_line read;
    size_t room = 0;

    *out = (struct mount_points){NULL, 0};
    while (from && getline(&line, &room, from) > 0)
        if (wc_mount_read(line, point, sizeof(point), &read) && wanted(point, &read))
            *MUST_ADD(out->p, out->n) = must_copy(point);
}

bool mount_points_have(const struct mount_points *m, const char *path) {
    return WC_ANY(point, *m, strcmp(*point, path) == 0);
}

void mount_points_end(struct mount_points *m) {
    for (size_t i = 0; i < m->n; i++)
        free(m->p[i]);
    free(m->p);
}
