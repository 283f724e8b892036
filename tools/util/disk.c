/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <mntent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "core/base/hash.h"
#define HASH_FUNCTION(key, n, hash) hash = (unsigned)wc_hash_bytes(WC_HASH_START, key, n)
#include <uthash.h>

#include "core/base/reading.h"
#include "memory.h"

#define LINKS_MOST 40 /* as the kernel: MAXSYMLINKS */

/* ---- below a root ---- */

/* By openat2(RESOLVE_IN_ROOT): whatever is exchanged meanwhile, no link leads out of it. Where the
 * kernel is older than 5.6, or a sandbox refuses openat2: by their whole path. Paths begin with the
 * root's name. */
#define OPENAT2 437 /* younger than the C library's headers may be; alike everywhere */
#define IN_ROOT 0x10

static int open2(int at, const char *path, int flags, uint64_t resolve) {
    const struct { uint64_t flags, mode, resolve; } how = {(uint64_t)flags | O_CLOEXEC, 0, resolve};

    return (int)syscall(OPENAT2, at, path, &how, sizeof(how));
}

static int below_open(const struct below *b, const char *path, int flags) {
    if (!b || b->fd < 0)
        return open(path, flags | O_CLOEXEC);
    return open2(b->fd, path[b->cut] ? path + b->cut : ".", flags, IN_ROOT);
}

DIR *below_list(const struct below *b, const char *path) {
    int fd = below_open(b, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && !d)
        close(fd);
    return d;
}

size_t below_read(int fd, uint64_t offset, void *to, size_t n) {
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static bool below_lstat(const struct below *b, const char *path, struct stat *facts) {
    OWNED_FD int fd = b->fd < 0 ? -1 : below_open(b, path, O_PATH | O_NOFOLLOW);

    return b->fd < 0 ? lstat(path, facts) == 0 : fd >= 0 && fstat(fd, facts) == 0;
}

static ssize_t below_readlink(const struct below *b, const char *path, char *to, size_t cap) {
    OWNED_FD int fd = b->fd < 0 ? -1 : below_open(b, path, O_PATH | O_NOFOLLOW);

    return b->fd < 0 ? readlink(path, to, cap) : fd < 0 ? -1 : readlinkat(fd, "", to, cap);
}

glob_t glob_below(const char *root, const char *directory, const char *pattern, int flags) {
    OWNED char *fixed = must_format("%s%s", root, directory);
    OWNED char *whole = must_allocate(2 * strlen(fixed) + strlen(pattern) + 1);
    glob_t found = {.gl_pathc = 0};
    char *to = whole;

    for (const char *p = fixed; *p; p++) {
        if (strchr("*?[]{},\\~", *p))
            *to++ = '\\';
        *to++ = *p;
    }
    stpcpy(to, pattern);
    glob(whole, flags, NULL, &found);
    return found;
}

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

/* What is at a path without links in it: a tree, in which the entries of a directory are those that
 * were looked at. */
struct seen {
    UT_hash_handle hh;
    struct seen *directory, *entries; /* the root has no directory */
    char *path;                       /* by which this machine has it; "": its own root */
    size_t length;                    /* of that */
    struct disk_entry layered;
    bool is_known; /* looked at: */
    int error;     /* of lstat; 0: it is there */
    struct stat facts;
    const char *target;   /* of a link, once asked for */
    const char **names;   /* of a directory, once asked for, NULL at the end */
    unsigned char *bytes; /* of a file, once asked for; NULL: not kept */
    size_t kept;          /* how many of these: of a large file a loader's first look only */
    bool is_whole;        /* all of the file */
};

struct disk_memory {
    struct heap_arena memory;
    struct seen root;
    struct seen *last; /* directory that the last path led through: the next often begins alike */
    size_t last_length;
    char last_path[PATH_MAX];
    struct seen **layered; /* in which order they were put */
    size_t layered_count;
    size_t bytes; /* of files */
    struct {
        struct mount {
            const char *point, *type;
        } * p; /* NULL: not read */
        size_t n;
    } mounts;
};

static struct seen *seen_in(struct seen *directory, const char *name, size_t n) {
    struct seen *s;

    HASH_FIND(hh, directory->entries, name, n, s);
    if (s)
        return s;
    s = must_allocate(sizeof(*s));
    s->directory = directory;
    s->path = must_format("%s/%.*s", directory->path, (int)n, name);
    s->length = directory->length + 1 + n;
    HASH_ADD_KEYPTR(hh, directory->entries, s->path + s->length - n, n, s);
    return s;
}

static const char *path_of(const struct seen *s) {
    return s->length ? s->path : "/";
}

static struct disk_entry entry_of(const struct disk *d, const struct seen *s) {
    return d->is_bare ? (struct disk_entry){.kind = DISK_AS_IT_IS} : s->layered;
}

/* 0: nothing is there: errno. */
static mode_t mode_of(const struct disk *d, struct seen *s) {
    static const mode_t modes[] = {
        [DISK_FILE] = S_IFREG, [DISK_LINK] = S_IFLNK, [DISK_DIRECTORY] = S_IFDIR | 0755};

    errno = ENOENT;
    if (!d->is_bare && s->layered.kind != DISK_AS_IT_IS)
        return modes[s->layered.kind];
    if (!s->is_known) /* a root may be a link */
        s->error = (s->directory || d->below.fd >= 0 ? below_lstat(&d->below, path_of(s), &s->facts)
                                                     : stat(path_of(s), &s->facts) == 0)
                       ? 0
                       : errno;
    s->is_known = true;
    errno = s->error;
    return s->error ? 0 : s->facts.st_mode;
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

/* ---- the end of a path ---- */

static struct seen *fail(int error) {
    errno = error;
    return NULL;
}

/* path: from the disk's root. With all links followed. NULL: errno. */
static struct seen *go(const struct disk *d, const char *path) {
    struct disk_memory *m = d->seen;
    const size_t last = d->is_bare ? 0 : m->last_length;
    const bool alike = strncmp(path, m->last_path, last) == 0 && path[last] == '/';
    const char *const begin = path;
    struct seen *at = alike && last ? m->last : &m->root, *s;
    char rest[PATH_MAX], behind[PATH_MAX];
    int links = 0;
    size_t n;

    if ((n = strlen(path)) >= PATH_MAX)
        return fail(ENAMETOOLONG);
    memcpy(m->last_path, path, n);
    path += m->last_length = alike ? last : 0;
    for (const char *name = path, *target; *name; name = path) {
        path = strchrnul(name, '/');
        n = (size_t)(path - name);
        path += *path == '/';
        if (n == 0 || (n == 1 && *name == '.')) {
            if (n && !*path && !mode_of(d, seen_in(at, name, n)) && errno == EACCES)
                return NULL; /* it may not be entered */
            continue;
        }
        if (n == 2 && strncmp(name, "..", n) == 0) {
            at = at->directory ?: at;
            continue;
        }
        if (at->length + 1 + n >= PATH_MAX)
            return fail(ENAMETOOLONG);
        s = seen_in(at, name, n);
        const mode_t mode = mode_of(d, s);
        if (!mode)
            return NULL;
        if (!S_ISLNK(mode)) {
            if (!S_ISDIR(mode) && path[strspn(path, "/")])
                return fail(ENOTDIR);
            at = s;
            if (links == 0 && !d->is_bare && S_ISDIR(mode)) {
                m->last = s;
                m->last_length = (size_t)(name - begin) + n;
            }
            continue;
        }
        target = entry_of(d, s).kind == DISK_LINK ? s->layered.target : seen_target(d, s);
        if (!target || ++links > LINKS_MOST)
            return target ? fail(ELOOP) : NULL;
        if (strlen(target) + 1 + strlen(path) >= sizeof(rest))
            return fail(ENAMETOOLONG);
        stpcpy(behind, path);
        stpcpy(stpcpy(stpcpy(rest, target), "/"), behind);
        path = rest;
        at = target[0] == '/' ? &d->seen->root : at;
    }
    return at;
}

static struct seen *seen_at(const struct disk *d, const char *path) {
    const char *directory = d->directory;
    char own[PATH_MAX], whole[PATH_MAX];

    if (path[0] == '/' || (!directory && d->root[0]))
        return go(d, path);
    if (!directory && !(directory = getcwd(own, sizeof(own))))
        return NULL;
    if (!directory[0])
        return fail(ENOENT);
    if (strlen(path) + strlen(directory) + 1 >= sizeof(whole))
        return fail(ENAMETOOLONG);
    stpcpy(stpcpy(stpcpy(whole, directory), "/"), path);
    return go(d, whole);
}

/* ---- the layer ---- */

static struct seen *layer_at(const struct disk *d, const char *path) {
    struct seen *at = &d->seen->root;

    WC_EACH_ELEMENT(e, path, "/")
        at = e.n ? seen_in(at, e.p, e.n) : at;
    return at;
}

struct disk_entry disk_layered(const struct disk *d, const char *path) {
    return layer_at(d, path)->layered;
}

void disk_put(struct disk *d, const char *path, struct disk_entry entry) {
    struct seen *s = layer_at(d, path);

    d->seen->last_length = 0;
    if (s->layered.kind == DISK_AS_IT_IS)
        *MUST_ADD(d->seen->layered, d->seen->layered_count) = s;
    if (s->layered.kind == DISK_FILE)
        close(s->layered.fd);
    s->layered = entry;
}

void disk_put_nothing(struct disk *d) {
    for (; d->seen->layered_count > 0; d->seen->layered_count--)
        disk_put(d, d->seen->layered[d->seen->layered_count - 1]->path + d->seen->root.length,
                 (struct disk_entry){.kind = DISK_AS_IT_IS});
}

/* ---- struct wc_files ---- */

int disk_open(const struct disk *d, const char *path, struct stat *facts) {
    const struct seen *s = d ? seen_at(d, path) : NULL;
    int fd = -1;

    if (d && !s)
        return -1;
    if (s && entry_of(d, s).kind == DISK_FILE)
        fd = fcntl(s->layered.fd, F_DUPFD_CLOEXEC, 0);
    else
        fd = below_open(d ? &d->below : NULL, s ? path_of(s) : path,
                        O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, facts) == 0 && S_ISREG(facts->st_mode))
        return fd;
    close(fd);
    errno = S_ISDIR(facts->st_mode) ? EISDIR : EINVAL;
    return -1;
}

/* A file whose bytes from there up to that one, or up to its end, are remembered; NULL: it is none.
 * A look at the end of a large file does not read all of it. */
static struct seen *remembered(const struct disk *d, const char *path, uint64_t from,
                               uint64_t end) {
    struct seen *s = seen_at(d, path);

    if (!s || entry_of(d, s).kind != DISK_AS_IT_IS)
        return NULL;
    /* What has no size may hold something all the same: /proc. */
    const size_t stated = S_ISREG(mode_of(d, s)) ? (size_t)s->facts.st_size : SIZE_MAX;
    const size_t size = stated ? stated : SMALL;
    const size_t to = size <= SMALL || end > size - SMALL ? size
                      : end <= HEAD                       ? HEAD
                                                          : (size_t)end + SMALL;

    if (s->is_whole || end <= s->kept)
        return s;
    if (from > s->kept + SMALL || (size > FILE_MOST && to > HEAD) ||
        to > BYTES_MOST - d->seen->bytes)
        return NULL;
    OWNED_FD int fd = below_open(&d->below, s->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    s->bytes = must_grow(s->bytes, to);
    const size_t n = fd < 0 ? 0 : below_read(fd, s->kept, s->bytes + s->kept, to - s->kept);
    if (fd < 0 || (stated && s->kept + n < to))
        return NULL;
    s->kept += n;
    s->is_whole = stated ? s->kept == size : s->kept < to;
    d->seen->bytes += n;
    return s->is_whole || end <= s->kept ? s : NULL;
}

static bool find_seen(void *ctx, const char *path, uint64_t from, const char *text, bool at_line,
                      uint64_t *at) {
    const struct seen *s = remembered(ctx, path, 0, UINT64_MAX);

    *at = WC_NOWHERE;
    if (!s || from >= s->kept)
        return s != NULL;
    const unsigned char *end = s->bytes + s->kept, *begin = s->bytes + from, *p = begin;
    for (; *at == WC_NOWHERE && p < end && (p = memmem(p, (size_t)(end - p), text, strlen(text)));
         p++)
        if (!at_line || (p == begin ? from == 0 : p[-1] == '\n'))
            *at = (uint64_t)(p - s->bytes);
    return true;
}

static bool read_at(void *ctx, const char *path, uint64_t offset, void *to, size_t cap, size_t *n) {
    const struct seen *s = ctx ? remembered(ctx, path, offset, offset + cap) : NULL;
    struct stat facts;

    *n = 0;
    if (s) {
        *n = offset < s->kept ? s->kept - (size_t)offset : 0;
        *n = *n < cap ? *n : cap;
        memcpy(to, s->bytes + (*n ? offset : 0), *n);
        return true;
    }
    OWNED_FD int fd = disk_open(ctx, path, &facts);
    if (fd < 0)
        return false;
    errno = 0;
    *n = below_read(fd, offset, to, cap);
    return *n > 0 || errno == 0;
}

static bool facts_of(void *ctx, const char *path, struct wc_file_stat *out) {
    const struct disk *d = ctx;
    struct seen *s = d ? seen_at(d, path) : NULL;
    const mode_t mode = s ? mode_of(d, s) : 0;
    struct stat facts = {.st_mode = mode};

    if (d ? !mode : stat(path, &facts) != 0) {
        *out = (struct wc_file_stat){.closed = errno == EACCES};
        return false;
    }
    if (d && entry_of(d, s).kind == DISK_FILE) {
        fstat(s->layered.fd, &facts);
        facts.st_dev = 0; /* a copy is not the file that it is read from */
    } else if (d && entry_of(d, s).kind == DISK_AS_IT_IS)
        facts = s->facts;
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
    struct seen *s = d ? seen_at(d, dir) : NULL, *entry;
    const size_t layered = d && !d->is_bare ? d->seen->layered_count : 0;
    const bool is_made = s && entry_of(d, s).kind == DISK_DIRECTORY;
    bool more = true;

    if (d && !s)
        return false;
    ENDED_BY(heap_arena_end) struct heap_arena own = HEAP_ARENA(own);
    if (s && !is_made && !s->names)
        s->names = names_in(&d->below, path_of(s), &d->seen->memory.arena);
    const char **names = !s ? names_in(NULL, dir, &own.arena) : is_made ? NULL : s->names;
    const bool is_there = is_made || names;
    for (const char **name = names; name && *name && more; name++) {
        entry = NULL;
        if (layered)
            HASH_FIND_STR(s->entries, *name, entry);
        /* What the layer has in another way it lists below, or not at all. */
        if (!entry || entry->layered.kind == DISK_AS_IT_IS)
            more = each(arg, *name);
    }
    for (size_t i = 0; i < layered && is_there && more; i++) {
        entry = d->seen->layered[i];
        if (entry->directory == s && entry->layered.kind != DISK_GONE)
            more = each(arg, entry->path + s->length + 1);
    }
    if (!s)
        free(names);
    return is_there;
}

static bool real_path(void *ctx, const char *path, char *to, size_t cap) {
    const struct disk *d = ctx;
    const struct seen *s = d ? seen_at(d, path) : NULL;
    char real[PATH_MAX];

    if (d ? !s : !realpath(path, real))
        return false;
    const char *inside = s ? s->path + d->seen->root.length : real;
    inside = inside[0] ? inside : "/";
    if (strlen(inside) >= cap)
        return false;
    stpcpy(to, inside);
    return true;
}

const struct wc_files disk_files = {NULL, read_at, facts_of, list, real_path, NULL, NULL};

void disk_begin(struct disk *d, const char *root) {
    size_t n;

    *d = (struct disk){.is_bare = false};
    d->root = must_copy(root ? root : "");
    for (n = strlen(d->root); n > 0 && d->root[n - 1] == '/'; n--)
        d->root[n - 1] = '\0';
    d->below.cut = strlen(d->root);
    d->below.fd = d->root[0] ? open2(AT_FDCWD, d->root, O_PATH | O_DIRECTORY, 0) : -1;
    d->seen = must_allocate(sizeof(*d->seen));
    heap_arena_begin(&d->seen->memory);
    d->seen->root.path = d->root;
    d->seen->root.length = d->below.cut;
    d->files = (struct wc_files){d, read_at, facts_of, list, real_path, find_seen, NULL};
}

static void end_seen(struct seen *s) {
    struct seen *entry, *next;

    HASH_ITER(hh, s->entries, entry, next) {
        HASH_DEL(s->entries, entry);
        end_seen(entry);
        free(entry);
    }
    free(s->path);
    free(s->names);
    free(s->bytes);
}

void disk_end(struct disk *d) {
    disk_put_nothing(d);
    end_seen(&d->seen->root);
    heap_arena_end(&d->seen->memory);
    free(d->seen->layered);
    free(d->seen->mounts.p);
    free(d->seen);
    fd_end(&d->below.fd);
}

char *disk_text(const char *path, size_t most, size_t *n) {
    struct stat facts = {.st_size = 0};
    OWNED_FD int fd = disk_open(NULL, path, &facts);
    const bool is_sized = facts.st_size > 0; /* of /proc no size is known */
    size_t room = is_sized ? (size_t)facts.st_size : SMALL, got = 0;
    char *text = NULL;

    if (n)
        *n = 0;
    if (fd < 0)
        return NULL;
    do {
        room = room < most ? room : most;
        text = must_grow(text, room + 1);
        errno = 0;
        got += below_read(fd, got, text + got, room - got);
    } while (got == room && room < most && !is_sized && (room *= 2));
    const int error = got < most ? errno : 0;
    if (error) {
        free(text);
        errno = error;
        return NULL;
    }
    text[got] = '\0';
    if (n)
        *n = got;
    return must_grow(text, got + 1);
}

char *disk_link(const char *path) {
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof(target) - 1);

    return n < 0 ? NULL : must_format("%.*s", (int)n, target);
}

/* ---- mounts ---- */

const char *disk_mount(const struct disk *d, const char *path) {
    struct disk_memory *m = d->seen;
    FILE *from = m->mounts.p || d->root[0] ? NULL : setmntent("/proc/self/mounts", "re");
    const char *type = NULL;

    for (const struct mntent *e; from && (e = getmntent(from));)
        *MUST_ADD(m->mounts.p, m->mounts.n) =
            (struct mount){heap_copy(&m->memory, e->mnt_dir), heap_copy(&m->memory, e->mnt_type)};
    endmntent(from);
    WC_EACH(one, m->mounts) /* what was mounted last is seen */
        type = wc_str_same(one->point, path) ? one->type : type;
    return type;
}
