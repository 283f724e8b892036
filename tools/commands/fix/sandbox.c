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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copy_tree.h"
#include "core/base/base.h"
#include "tools/util/memory.h"

#define WRITABLE_MOST (2 * SANDBOX_PLACES + 8)
#define EXIT_LOST 126

static bool fail(struct sandbox *s, char *why) {
    free(s->why);
    s->why = why;
    return false;
}

/* ---- the namespace ---- */

static bool write_into(const char *path, const char *text) {
    OWNED_FD int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* The same user and group as before: a command is to see no difference. */
static bool become_oneself(uid_t user, gid_t group) {
    OWNED char *users = must_format("%u %u 1", user, user);
    OWNED char *groups = must_format("%u %u 1", group, group);

    return write_into("/proc/self/uid_map", users) && write_into("/proc/self/setgroups", "deny") &&
           write_into("/proc/self/gid_map", groups);
}

static bool enter_namespace(bool *of_user) {
    const uid_t user = geteuid();
    const gid_t group = getegid();

    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        *of_user = true;
        if (!become_oneself(user, group))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* A process of its own finds out, as there is no way back. */
static bool can_have_namespace(void) {
    pid_t child = fork();
    int status = 1;
    bool of_user = false;

    if (child == 0)
        _exit(enter_namespace(&of_user) ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && status == 0;
}

/* ---- over a directory ---- */

static int open_below(int directory, const char *name) {
    if (mkdirat(directory, name, S_IRWXU) != 0 && errno != EEXIST)
        return -1;
    return openat(directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* By descriptors: a path may have a comma or a colon. */
static bool mount_overlay(int place, int in, bool of_user) {
    OWNED_FD int upper = open_below(in, "upper"), work = open_below(in, "work");
    OWNED char *options = must_format(
        "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d%s", place,
        upper, work, of_user ? ",userxattr" : "");
    OWNED char *at = must_format("/proc/self/fd/%d", place);
    struct stat facts;

    return upper >= 0 && work >= 0 && fstat(place, &facts) == 0 &&
           fchmodat(in, "upper", facts.st_mode & 07777, 0) == 0 &&
           (geteuid() || fchownat(in, "upper", facts.st_uid, facts.st_gid, 0) == 0) &&
           mount("whichcudnn", at, "overlay", 0, options) == 0;
}

/* What holds the temporary directory may be an overlay itself, which cannot be on top of one. */
static bool mount_overlay_in_memory(int place, int in, bool of_user) {
    OWNED_FD int memory = open_below(in, "memory");
    OWNED char *at = must_format("/proc/self/fd/%d", memory);
    OWNED_FD int there = -1;

    if (memory < 0 || mount("whichcudnn", at, "tmpfs", 0, "mode=700") != 0)
        return false;
    there = openat(in, "memory", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return there >= 0 && mount_overlay(place, there, of_user);
}

bool is_within(const char *path, const char *top) {
    const size_t n = strlen(top);

    return strncmp(path, top, n) == 0 && (!path[n] || path[n] == '/');
}

static bool make_copy(struct sandbox *s, const char *place, const char *copy) {
    OWNED char *at = NULL;

    if (is_within(s->work, place))
        return fail(s, must_format("%s has the temporary directory %s in it, and cannot be copied "
                                   "there (TMPDIR says where)",
                                   place, s->work));
    if (copy_tree(place, copy, false, &at))
        return true;
    return fail(s, must_format("%s cannot be copied to %s: %s: %s%s", place, s->work, at,
                               strerror(errno),
                               errno == ENOSPC ? " (TMPDIR says where copies go)" : ""));
}

static bool cover(struct sandbox *s, const char *place) {
    OWNED char *name = must_format("%s/%zu", s->work, s->covered_count);
    OWNED char *copy = must_format("%s/copy", name);
    OWNED_FD int at = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC), in = -1;
    bool good = false;

    if (at < 0)
        return fail(s, must_format("%s: %s", place, strerror(errno)));
    in = mkdir(name, S_IRWXU) == 0 ? open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (in < 0) {
        fail(s, must_format("%s: %s", name, strerror(errno)));
    } else {
        good = mount_overlay(at, in, s->of_user) || mount_overlay_in_memory(at, in, s->of_user);
        if (!good && make_copy(s, place, copy)) {
            good = mount(copy, place, NULL, MS_BIND, NULL) == 0;
            if (!good)
                fail(s, must_format("nothing can be put over %s: %s", place, strerror(errno)));
        }
    }
    s->covered[s->covered_count++] = must_copy(place);
    return good;
}

static bool cover_all(struct sandbox *s, const char *const *places, size_t n) {
    OWNED char *directory = getcwd(NULL, 0), *from = NULL;
    bool good = s->is_inside || enter_namespace(&s->of_user);
    OWNED_FD int work = -1;

    if (!good)
        return fail(s, must_format("no mount namespace can be had: %s", strerror(errno)));
    s->is_inside = true;
    work = open(s->work, O_PATH | O_DIRECTORY | O_CLOEXEC); /* of this namespace */
    from = must_format("/proc/self/fd/%d", work);
    for (size_t i = 0; good && i < n; i++) {
        good = cover(s, places[i]);
        /* An overlay shows nothing of what is mounted below its directory. */
        if (good && is_within(s->work, places[i]) && mount(from, s->work, NULL, MS_BIND, NULL) != 0)
            good = fail(s, must_format("%s: %s", s->work, strerror(errno)));
    }
    if (good && directory && chdir(directory) != 0)
        good = fail(s, must_format("%s: %s", directory, strerror(errno)));
    return good;
}

/* ---- whoever makes the repair ---- */

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

/* What package managers download is worth keeping: it is wanted once more. */
static void keep_caches(const struct sandbox *s, char **list, size_t *n) {
    static const char *const named[] = {"XDG_CACHE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR",
                                        "POETRY_CACHE_DIR", "CONDA_PKGS_DIRS"};
    const char *home = getenv("HOME");
    OWNED char *usual = must_format("%s/.cache", home ? home : "");

    WC_EACH_ROW(name, named)
        keep_writable(list, n, must_copy(getenv(*name)));
    if (access(usual, W_OK) == 0) {
        keep_writable(list, n, must_copy(usual));
    } else if (!getenv("XDG_CACHE_HOME")) {
        OWNED char *cache = must_format("%s/cache", s->work);
        setenv("XDG_CACHE_HOME", cache, 1);
    }
    /* conda's, of BASE/envs/NAME and of the user. */
    for (size_t i = 0; i < s->covered_count; i++)
        keep_writable(list, n, must_format("%s/../../pkgs", s->covered[i]));
    keep_writable(list, n, must_format("%s/.conda", home ? home : ""));
}

void sandbox_guard(const struct sandbox *s) {
    OWNED char *directory = getcwd(NULL, 0), *temporary = must_format("%s/tmp", s->work);
    char *list[WRITABLE_MOST];
    size_t n = 0;

    if (!s->is_inside || unshare(CLONE_NEWNS) != 0)
        return;
    mkdir(temporary, S_IRWXU);
    keep_caches(s, list, &n);
    for (size_t i = 0; i < s->covered_count; i++)
        keep_writable(list, &n, must_copy(s->covered[i]));
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

    for (size_t i = 0; i < s->copies; i++) {
        other = replaced(made, s->copy[i].from, s->copy[i].to);
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
static bool copy_all(struct sandbox *s, const char *const *places, size_t n) {
    static const char *const variables[] = {"PATH",        "PYTHONPATH",   "LD_LIBRARY_PATH",
                                            "VIRTUAL_ENV", "CONDA_PREFIX", "LD_PRELOAD"};

    for (size_t i = 0; i < n; i++) {
        char *copy = must_format("%s/%zu", s->work, i);
        OWNED char *programs = must_format("%s/bin", copy);
        s->copy[s->copies].from = must_copy(places[i]);
        s->copy[s->copies++].to = copy;
        if (!make_copy(s, places[i], copy))
            return false;
        WC_EACH_ROW(variable, variables) {
            const char *value = getenv(*variable);
            OWNED char *there = value ? sandbox_there(s, value) : NULL;
            if (there)
                setenv(*variable, there, 1);
        }
        sandbox_put_in_front("PATH", programs);
    }
    return true;
}

/* Of those that are new. False: one is above what is covered already, and would hide it. */
static bool take_new(struct sandbox *s, const char *const *places, size_t n, const char **fresh,
                     size_t *count) {
    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (size_t k = 0; k < s->covered_count; k++) {
            known = known || is_within(places[i], s->covered[k]);
            if (!known && is_within(s->covered[k], places[i]))
                return fail(s, must_format("%s is changed already", s->covered[k]));
        }
        if (!known)
            fresh[(*count)++] = places[i];
    }
    return *count + s->covered_count <= SANDBOX_PLACES ||
           fail(s, must_copy("too many directories would be changed"));
}

bool sandbox_cover(struct sandbox *s, const char *const *places, size_t n) {
    const char *fresh[SANDBOX_PLACES];
    size_t count = 0;

    if (!take_new(s, places, n, fresh, &count))
        return false;
    if (count == 0)
        return true;
    if (s->is_inside || can_have_namespace())
        return cover_all(s, fresh, count);
    return copy_all(s, fresh, count);
}
