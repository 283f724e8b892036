/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "memory.h"
#include "seen.h"

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

/* ---- what is remembered ---- */

struct disk_memory {
    struct seen_paths seen;
    struct way *ways;
};

/* What a path pointed to, through links and the layer. */
struct way {
    UT_hash_handle hh;
    char *from;
    unsigned changed;           /* the disk's, when it was last known to be so */
    unsigned turn, parent_turn; /* how often it became another one */
    bool layered;               /* something on the way was the layer's */
    bool leads_on;              /* others lead through it */
    int error;
    char *to; /* as this machine has it */
    struct disk_entry entry;
    struct seen *seen;
};

/* ---- the way of a path ---- */

struct walk {
    const struct disk *disk;
    struct disk_entry entry; /* of `at` */
    struct seen *seen;       /* of `at`; NULL: of the layer, or the root itself */
    char at[PATH_MAX];       /* so far, without links */
    char rest[PATH_MAX];     /* still to be gone */
    int links;
    bool layered; /* something on the way was the layer's */
};

static bool fail(int error) {
    errno = error;
    return false;
}

static struct disk_entry entry_at(const struct walk *w) {
    const char *inside = w->at + strlen(w->disk->root);

    if (!w->disk->layer)
        return (struct disk_entry){.kind = DISK_AS_IT_IS};
    return w->disk->layer->at(w->disk->layer->ctx, inside[0] ? inside : "/");
}

/* n: of w->at. */
static void go_back(struct walk *w, size_t n) {
    w->at[n] = '\0';
    w->entry = entry_at(w);
    w->seen = NULL;
}

static void go_up(struct walk *w) {
    char *slash = strrchr(w->at + strlen(w->disk->root), '/');

    go_back(w, slash ? (size_t)(slash - w->at) : strlen(w->at));
}

/* Where the link at w->at leads, in front of what is still to be gone. */
static bool follow(struct walk *w) {
    const char *target =
        w->entry.kind == DISK_LINK ? w->entry.target : seen_target(&w->disk->memory->seen, w->seen);
    char rest[PATH_MAX];

    if (!target)
        return false;
    if (++w->links > LINKS_MOST)
        return fail(ELOOP);
    stpcpy(rest, w->rest);
    if (strlen(target) + 1 + strlen(rest) >= sizeof(w->rest))
        return fail(ENAMETOOLONG);
    stpcpy(stpcpy(stpcpy(w->rest, target), "/"), rest);
    if (target[0] == '/')
        go_back(w, strlen(w->disk->root));
    else
        go_up(w);
    return true;
}

static bool go_down(struct walk *w, const char *name, size_t n) {
    const size_t used = strlen(w->at);

    if (used + 1 + n >= sizeof(w->at))
        return fail(ENAMETOOLONG);
    w->at[used] = '/';
    memcpy(w->at + used + 1, name, n);
    w->at[used + 1 + n] = '\0';
    memmove(w->rest, name + n, strlen(name + n) + 1);
    const bool last = w->rest[strspn(w->rest, "/")] == '\0';
    w->entry = entry_at(w);
    w->seen = NULL;
    w->layered = w->layered || w->entry.kind != DISK_AS_IT_IS;
    switch (w->entry.kind) {
    case DISK_GONE:
        return fail(ENOENT);
    case DISK_LINK:
        return follow(w);
    case DISK_FILE:
        return last || fail(ENOTDIR);
    case DISK_DIRECTORY:
        return true;
    case DISK_AS_IT_IS:
        break;
    }
    w->seen = seen_at(&w->disk->memory->seen, w->at);
    if (w->seen->error)
        return fail(w->seen->error);
    if (S_ISLNK(w->seen->facts.st_mode))
        return follow(w);
    return S_ISDIR(w->seen->facts.st_mode) || last || fail(ENOTDIR);
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

/* parent: NULL: there is none. */
static bool is_known(const struct way *way, const struct way *parent, const struct disk *d) {
    const char *name = way->leads_on ? "" : wc_base_name(way->from);

    return way->to && !way->layered && (!parent || way->parent_turn == parent->turn) &&
           !(d->layer && d->layer->concerns(d->layer->ctx, name));
}

static void go_way(struct way *way, const struct way *parent, const struct disk *d) {
    struct walk w;
    int error;

    w.disk = d;
    w.entry = (struct disk_entry){.kind = DISK_AS_IT_IS};
    w.seen = NULL;
    w.links = 0;
    w.layered = false;
    stpcpy(w.at, parent ? parent->to : d->root);
    stpcpy(w.rest, parent ? wc_base_name(way->from) : way->from);
    error = parent && parent->error ? parent->error : go(&w) ? 0 : errno ?: ENOENT;
    if (!way->to || way->layered || w.layered || error != way->error || strcmp(way->to, w.at) != 0)
        way->turn++;
    free(way->to);
    way->to = must_copy(w.at);
    way->error = error;
    way->layered = w.layered || (parent && parent->layered);
    way->entry = w.entry;
    way->seen = w.seen;
    way->parent_turn = parent ? parent->turn : 0;
}

/* From the root, n bytes. Most paths lie in a directory that others lie in, too. leads_on: as such
 * a directory. */
static const struct way *way_to(const struct disk *d, const char *path, size_t n, bool leads_on) {
    struct way *way = hash_find(d->memory->ways, path, n);
    const struct way *parent = NULL;
    size_t directory = n;

    if (!way) {
        way = must_allocate(sizeof(*way));
        way->from = must_format("%.*s", (int)n, path);
        hash_add(&d->memory->ways, way, way->from, n);
    }
    way->leads_on = way->leads_on || leads_on || (n > 0 && path[n - 1] == '/');
    if (way->to && way->changed == d->changed)
        return way;
    while (directory > 0 && path[directory - 1] != '/')
        directory--;
    if (!leads_on && directory > 1 && directory < n && path[directory] != '.')
        parent = way_to(d, path, directory - 1, true);
    if (!is_known(way, parent, d))
        go_way(way, parent, d);
    way->changed = d->changed;
    return way;
}

struct outside {
    char path[PATH_MAX]; /* by which this machine has it */
    struct disk_entry entry;
    struct seen *seen; /* NULL: not remembered */
};

/* With all links followed. d NULL: as it is. */
static bool outside_of(const struct disk *d, const char *path, struct outside *to) {
    const char *directory = d && path[0] != '/' ? d->directory : NULL;
    const struct way *way;
    char own[PATH_MAX];

    to->entry = (struct disk_entry){.kind = DISK_AS_IT_IS};
    to->seen = NULL;
    if (directory && !directory[0])
        return fail(ENOENT);
    if (d && path[0] != '/' && !directory && !d->root[0] && !(directory = getcwd(own, sizeof(own))))
        return false;
    if (strlen(path) + (directory ? strlen(directory) + 1 : 0) >= PATH_MAX ||
        (d && strlen(d->root) >= PATH_MAX))
        return fail(ENAMETOOLONG);
    stpcpy(directory ? stpcpy(stpcpy(to->path, directory), "/") : to->path, path);
    if (!d)
        return true;
    way = way_to(d, to->path, strlen(to->path), false);
    if (way->error)
        return fail(way->error);
    stpcpy(to->path, way->to[0] ? way->to : "/");
    to->entry = way->entry;
    to->seen = way->seen;
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
    struct outside o;

    return outside_of(d, path, &o) && o.seen && seen_bytes(&d->memory->seen, o.seen, end) ? o.seen
                                                                                          : NULL;
}

static bool find_seen(void *ctx, const char *path, uint64_t from, const char *text, bool at_line,
                      uint64_t *at) {
    const struct disk *d = ctx;
    struct seen *s = remembered(d, path, UINT64_MAX);

    if (s)
        *at = seen_find(&d->memory->seen, s, from, text, at_line);
    return s != NULL;
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
    struct outside o;

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

struct listing {
    const struct disk *disk;
    const char *inside;
    bool (*each)(void *arg, const char *name);
    void *arg;
    bool layered, more;
};

static void list_one(struct listing *l, const char *name) {
    const struct disk_layer *layer = l->layered ? l->disk->layer : NULL;
    char path[PATH_MAX];

    /* What the layer has in another way it lists apart, or not at all. */
    if (layer && strlen(l->inside) + strlen(name) + 2 <= sizeof(path)) {
        stpcpy(stpcpy(stpcpy(path, l->inside), strcmp(l->inside, "/") == 0 ? "" : "/"), name);
        if (layer->at(layer->ctx, path).kind != DISK_AS_IT_IS)
            return;
    }
    l->more = l->each(l->arg, name);
}

static bool list(void *ctx, const char *dir, bool (*each)(void *arg, const char *name), void *arg) {
    const struct disk *disk = ctx;
    struct listing l = {.disk = disk, .each = each, .arg = arg, .more = true};
    struct outside o;

    if (!outside_of(disk, dir, &o))
        return false;
    l.inside = o.path + (disk ? strlen(disk->root) : 0);
    l.inside = l.inside[0] ? l.inside : "/";
    l.layered = disk && disk->layer && disk->layer->is_in(disk->layer->ctx, l.inside);
    if (o.entry.kind != DISK_DIRECTORY && o.seen) {
        const char *const *name = seen_names(&disk->memory->seen, o.seen);
        if (!name)
            return false;
        for (; *name && l.more; name++)
            list_one(&l, *name);
    } else if (o.entry.kind != DISK_DIRECTORY) {
        DIR *d = below_list(disk ? &disk->below : NULL, o.path);
        if (!d)
            return false;
        for (struct dirent *e; l.more && (e = readdir(d));)
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                list_one(&l, e->d_name);
        closedir(d);
    }
    if (l.more && l.layered)
        disk->layer->list(disk->layer->ctx, l.inside, each, arg);
    return true;
}

static bool real_path(void *ctx, const char *path, char *to, size_t cap) {
    const struct disk *d = ctx;
    const char *inside;
    char real[PATH_MAX];
    struct outside o;

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
    d->memory = must_allocate(sizeof(*d->memory));
    seen_begin(&d->memory->seen, &d->below);
    d->files = (struct wc_files){d, read_at, facts_of, list, real_path, find_seen, NULL};
}

void disk_end(struct disk *d) {
    struct way *next;

    for (struct way *w = d->memory->ways; w; w = next) {
        next = w->hh.next;
        hash_remove(&d->memory->ways, w);
        free(w->from);
        free(w->to);
        free(w);
    }
    seen_end(&d->memory->seen);
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
