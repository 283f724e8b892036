/* SPDX-License-Identifier: Apache-2.0 */
/* overlayfs, namespaces: Documentation/filesystems/overlayfs.rst, user_namespaces(7). */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "tools/commands/probe/trial.h"
#include "tools/util/memory.h"

#define WRITABLE_MOST (2 * SANDBOX_PLACES + 8)
#define EXIT_LOST 126

char *trouble_of(const char *path) {
    return must_format("%s: %s", path, strerror(errno));
}

/* ---- the namespace ---- */

static bool write_into(const char *path, const char *text) {
    OWNED_FD int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool enter_namespace(bool *of_user) {
    OWNED char *users = must_format("%u %u 1", geteuid(), geteuid());
    OWNED char *groups = must_format("%u %u 1", getegid(), getegid());

    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        *of_user = true;
        /* The same user and group as before: a command is to see no difference. */
        if (!write_into("/proc/self/uid_map", users) ||
            !write_into("/proc/self/setgroups", "deny") ||
            !write_into("/proc/self/gid_map", groups))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* ---- over a directory ---- */

static int open_below(int directory, const char *name) {
    if (mkdirat(directory, name, S_IRWXU) != 0 && errno != EEXIST)
        return -1;
    return openat(directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What holds the temporary directory may be an overlay itself, which cannot be on top of one:
 * in_memory. By descriptors: a path may have a comma or a colon. */
static bool mount_overlay(int place, int in, bool of_user, bool in_memory) {
    OWNED_FD int memory = in_memory ? open_below(in, "memory") : -1, room = -1;
    OWNED char *on = must_format("/proc/self/fd/%d", memory);
    OWNED_FD int upper = -1, work = -1;
    OWNED char *options = NULL, *at = must_format("/proc/self/fd/%d", place);
    struct stat facts;

    if (in_memory && (memory < 0 || mount("whichcudnn", on, "tmpfs", 0, "mode=700") != 0))
        return false;
    room = in_memory ? open_below(in, "memory") : dup(in); /* what is on top now */
    upper = open_below(room, "upper");
    work = open_below(room, "work");
    options = must_format(
        "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d%s", place,
        upper, work, of_user ? ",userxattr" : "");
    return upper >= 0 && work >= 0 && fstat(place, &facts) == 0 &&
           fchmodat(room, "upper", facts.st_mode & 07777, 0) == 0 &&
           (geteuid() || fchownat(room, "upper", facts.st_uid, facts.st_gid, 0) == 0) &&
           mount("whichcudnn", at, "overlay", 0, options) == 0;
}

bool is_within(const char *path, const char *top) {
    const size_t n = strlen(top);

    return strncmp(path, top, n) == 0 && (!path[n] || path[n] == '/');
}

bool has_little_room(const char *path) {
    struct statvfs facts;

    return statvfs(path, &facts) == 0 && facts.f_bavail * facts.f_frsize < ROOM_LEAST;
}

/* An overlay on a full disk says what it likes: an input/output error. */
const char *sandbox_room(const struct sandbox *s) {
    return has_little_room(s->work)
               ? "; there is hardly any room left for the try (TMPDIR says where it is made)"
               : "";
}

static char *make_copy(const struct sandbox *s, const char *place, const char *copy) {
    OWNED char *trouble = NULL;

    if (is_within(s->work, place))
        return must_format("%s has the temporary directory %s in it, and cannot be copied there "
                           "(TMPDIR says where)",
                           place, s->work);
    trouble = copy_tree(place, copy);
    return trouble ? must_format("no copy in %s: %s%s", s->work, trouble, sandbox_room(s)) : NULL;
}

static char *cover(const struct sandbox *s, const char *place, const char *in) {
    OWNED char *copy = must_format("%s/copy", in), *here = getcwd(NULL, 0), *above = NULL;
    OWNED_FD int work = open(s->work, O_PATH | O_DIRECTORY | O_CLOEXEC);
    OWNED_FD int at = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC), below = -1;

    if (at < 0)
        return trouble_of(place);
    below = mkdir(in, S_IRWXU) == 0 ? open(in, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (below < 0)
        return trouble_of(in);
    if (!mount_overlay(at, below, s->of_user, false) &&
        !mount_overlay(at, below, s->of_user, true)) {
        char *trouble = make_copy(s, place, copy);
        if (trouble)
            return trouble;
        if (mount(copy, place, NULL, MS_BIND, NULL) != 0)
            return must_format("nothing can be put over %s: %s", place, strerror(errno));
    }
    /* An overlay shows nothing of what is mounted below its directory. */
    above = must_format("/proc/self/fd/%d", work);
    if (is_within(s->work, place) && mount(above, s->work, NULL, MS_BIND, NULL) != 0)
        return trouble_of(s->work);
    return here && chdir(here) != 0 ? trouble_of(here) : NULL;
}

/* ---- the process that makes the repair ---- */

/* Of linux/mount.h, which older systems do not have, nor goes with sys/mount.h everywhere. */
enum { MOUNT_SETATTR = 442, RECURSIVE = 0x8000, READ_ONLY = 1 };
struct attributes {
    uint64_t set, clear, propagation, user_namespace;
};

static bool set_attributes(const char *path, uint64_t set, uint64_t clear) {
    struct attributes a = {.set = set, .clear = clear};

    return syscall(MOUNT_SETATTR, AT_FDCWD, path, RECURSIVE, &a, sizeof(a)) == 0;
}

/* Becomes a mount of its own, which has its own attributes. */
static void keep_writable(char **list, size_t *n, char *path) {
    char *real = path ? realpath(path, NULL) : NULL;

    free(path);
    if (real && *n < WRITABLE_MOST && mount(real, real, NULL, MS_BIND | MS_REC, NULL) == 0)
        list[(*n)++] = real;
    else
        free(real);
}

void sandbox_guard(void *sandbox) {
    static const char *const named[] = {"XDG_CACHE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR",
                                        "POETRY_CACHE_DIR", "CONDA_PKGS_DIRS"};
    const struct sandbox *s = sandbox;
    const char *home = getenv("HOME") ?: "";
    OWNED char *directory = getcwd(NULL, 0), *temporary = must_format("%s/tmp", s->work);
    OWNED char *usual = must_format("%s/.cache", home), *own = must_format("%s/cache", s->work);
    char *list[WRITABLE_MOST];
    size_t n = 0;

    if (s->how != SANDBOX_COVERS || unshare(CLONE_NEWNS) != 0)
        return;
    mkdir(temporary, S_IRWXU);
    /* What package managers download is worth keeping: it is wanted again. */
    WC_EACH_ROW(name, named)
        keep_writable(list, &n, must_copy(getenv(*name)));
    if (access(usual, W_OK) == 0)
        keep_writable(list, &n, must_copy(usual));
    else
        setenv("XDG_CACHE_HOME", own, 0);
    keep_writable(list, &n, must_format("%s/.conda", home));
    for (size_t i = 0; i < s->n; i++) {
        keep_writable(list, &n, must_format("%s/../../pkgs", s->places[i])); /* BASE/envs/NAME */
        keep_writable(list, &n, must_copy(s->places[i]));
    }
    /* pyenv, asdf and mise write their shims anew after an installation, and fail if they cannot.
     */
    WC_EACH_ELEMENT(e, getenv("PATH"), ":") {
        OWNED char *shims = must_format("%.*s", (int)e.n, e.p);
        OWNED char *in = must_format("%s/shims-%zu", s->work, n);
        if (!wc_str_ends(shims, "/shims") || access(shims, W_OK) != 0)
            continue;
        OWNED char *trouble = cover(s, shims, in);
        if (!trouble)
            keep_writable(list, &n, must_copy(shims));
    }
    keep_writable(list, &n, must_copy(s->work));
    if (set_attributes("/", READ_ONLY, 0)) {
        for (size_t i = 0; i < n; i++)
            set_attributes(list[i], 0, READ_ONLY);
        setenv("TMPDIR", temporary, 1);
    }
    if (directory && chdir(directory) != 0)
        _exit(EXIT_LOST);
    for (size_t i = 0; i < n; i++)
        free(list[i]);
}

/* ---- copies in front ---- */

static char *replaced(const char *text, const char *from, const char *to) {
    const size_t n = strlen(from);
    char *made = must_copy(""), *longer;

    while (*text) {
        const char *at = strstr(text, from);
        /* Its whole name, and no longer one. */
        while (at && at[n] && (wc_is_alphanumeric(at[n]) || strchr("_-.", at[n])))
            at = strstr(at + 1, from);
        longer = must_format("%s%.*s%s", made, at ? (int)(at - text) : (int)strlen(text), text,
                             at ? to : "");
        free(made);
        made = longer;
        text = at ? at + n : "";
    }
    return made;
}

char *sandbox_there(const struct sandbox *s, const char *text) {
    char *made = must_copy(text), *other;

    for (size_t i = 0; s->how == SANDBOX_COPIES && i < s->n; i++) {
        OWNED char *copy = must_format("%s/%zu", s->work, i);
        other = replaced(made, s->places[i], copy);
        free(made);
        made = other;
    }
    return made;
}

void sandbox_put_in_front(const char *variable, const char *directory) {
    const char *before = getenv(variable);
    OWNED char *list =
        must_format("%s%s%s", directory, before && *before ? ":" : "", before ? before : "");

    setenv(variable, list, 1);
}

/* Programs of a virtual environment that is copied are its own, and find their packages there. */
static char *copy_in_front(const struct sandbox *s, const char *place, const char *copy) {
    static const char *const variables[] = {"PATH",        "PYTHONPATH",   "LD_LIBRARY_PATH",
                                            "VIRTUAL_ENV", "CONDA_PREFIX", "LD_PRELOAD"};
    OWNED char *programs = must_format("%s/bin", copy);
    char *trouble = make_copy(s, place, copy);

    WC_EACH_ROW(variable, variables) {
        const char *value = getenv(*variable);
        OWNED char *there = value ? sandbox_there(s, value) : NULL;
        if (there)
            setenv(*variable, there, 1);
    }
    sandbox_put_in_front("PATH", programs);
    return trouble;
}

char *sandbox_cover(struct sandbox *s, const char *place) {
    OWNED char *name = must_format("%s/%zu", s->work, s->n);
    int status = 1;
    pid_t child;

    for (size_t i = 0; i < s->n; i++)
        if (is_within(place, s->places[i]))
            return NULL;
        else if (is_within(s->places[i], place)) /* it would be hidden */
            return must_format("%s is changed already", s->places[i]);
    if (s->n == SANDBOX_PLACES)
        return must_copy("too many directories would be changed");
    if (s->n == 0) {
        /* A process of its own finds out, as there is no way back. */
        child = fork();
        if (child == 0)
            _exit(enter_namespace(&s->of_user) ? 0 : 1);
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        s->how = child > 0 && status == 0 ? SANDBOX_COVERS : SANDBOX_COPIES;
        if (s->how == SANDBOX_COVERS && !enter_namespace(&s->of_user))
            return must_format("cannot create a mount namespace: %s", strerror(errno));
    }
    s->places[s->n++] = must_copy(place);
    return s->how == SANDBOX_COVERS ? cover(s, place, name) : copy_in_front(s, place, name);
}
