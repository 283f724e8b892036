/* SPDX-License-Identifier: Apache-2.0 */
#include "preload.h"

#include <envz.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base/base.h"
#include "tools/observe/elf/elf_file.h"
#include "tools/observe/log/source.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"
#include "tools/util/program.h"

#define LOG_ENDING ".jsonl"
#define DIRECTORIES_TRIED 10 /* as the library */

#ifndef WHICHCUDNN_LIBDIR
#define WHICHCUDNN_LIBDIR "/usr/local/lib"
#endif
#define SHIM_NAME "libwhichcudnn.so"
#define IN_DEBIAN ("/../lib/" OWN_TRIPLET "/whichcudnn")

struct newest {
    char *path; /* NULL: none yet */
    struct timespec time;
};

static void take_newer(struct newest *n, const char *path, struct timespec time) {
    if (n->path &&
        (WC_ORDER(time.tv_sec, n->time.tv_sec) ?: WC_ORDER(time.tv_nsec, n->time.tv_nsec)) <= 0)
        return;
    free(n->path);
    *n = (struct newest){must_copy(path), time};
}

/* Where wheels, packages and tarballs have it, as seen from the command. Of several Pythons in one
 * directory, the last one installed this command. */
static const char *const beside[] = {
    "",
    "/../lib",
    "/../lib64",
    IN_DEBIAN,
    "/../lib64/whichcudnn",
    "/../lib/whichcudnn",
    "/../lib*/python3*/*-packages/whichcudnn", /* site-, Debian's dist- */
    "/../whichcudnn",                          /* pip install --target */
};

static char *search_shim(void) {
    const char *given = getenv("WHICHCUDNN_SHIM");
    struct newest found = {.path = NULL};
    struct stat facts;

    if (given && *given)
        return realpath(given, NULL);
    /* Without a /proc the kernel's name for this program is the one of execve. */
    const char *started = (const char *)getauxval(AT_EXECFN);
    OWNED char *program = disk_link("/proc/self/exe") ?: (started ? realpath(started, NULL) : NULL);
    OWNED char *own = must_format("%.*s", program ? (int)wc_dir_length(program) : 0, program);
    for (size_t i = 0; !found.path && i < sizeof(beside) / sizeof(beside[0]); i++) {
        OWNED char *file = must_format("%s/%s", beside[i], SHIM_NAME);
        OWNED_GLOB glob_t matches = glob_below("", own, file, GLOB_NOSORT);
        for (size_t k = 0; k < matches.gl_pathc; k++)
            if (stat(matches.gl_pathv[k], &facts) == 0)
                take_newer(&found, matches.gl_pathv[k], facts.st_ctim);
    }
    OWNED char *match = found.path;
    return realpath(match ?: WHICHCUDNN_LIBDIR "/" SHIM_NAME, NULL);
}

char *preload_name_trouble(const char *path) {
    if (!strpbrk(path, " :\t\n"))
        return NULL;
    return must_format("%s cannot be preloaded: LD_PRELOAD splits at spaces and colons", path);
}

char *preload_find_shim(char **trouble) {
    char *shim = search_shim();
    char *why = shim ? preload_name_trouble(shim)
                     : must_format("%s is neither next to this program nor in %s; "
                                   "WHICHCUDNN_SHIM can name it",
                                   SHIM_NAME, WHICHCUDNN_LIBDIR);

    if (trouble)
        *trouble = why;
    if (!why)
        return shim;
    if (!trouble) {
        complain("%s", why);
        free(why);
    }
    free(shim);
    return NULL;
}

char *preload_list(const char *before, const char *shim) {
    WC_EACH_ELEMENT(e, before, " :")
        if (e.n == strlen(shim) && memcmp(e.p, shim, e.n) == 0)
            return must_copy(before);
    return must_format("%s%s%s", before, before && *before ? ":" : "", shim);
}

char *preload_without(const char *list, const char *shim) {
    char *rest = NULL;

    WC_EACH_ELEMENT(e, list, " :") {
        OWNED char *one = must_format("%.*s", (int)e.n, e.p), *before = rest;
        const bool stays = *one && strcmp(wc_base_name(one), wc_base_name(shim)) != 0;
        rest = stays ? preload_list(before, one) : must_copy(before);
    }
    return rest;
}

/* Before its exec, and while the loader works, it is only in the environment; a process that
 * writes its title over its environment has it only in memory; one that ends has neither. */
bool preload_is_gone(pid_t pid, const char *shim) {
    const char *name = wc_base_name(shim);
    size_t n;
    OWNED char *environment = proc_text(pid, "environ", &n), *maps = proc_text(pid, "maps", NULL);

    return *maps && !strstr(maps, name) &&
           !strstr(envz_get(environment, n, "LD_PRELOAD") ?: "", name);
}

static bool can_write_in(const char *directory) {
    return directory && *directory && wc_is_directory(&disk_files, directory) &&
           access(directory, W_OK | X_OK) == 0;
}

static char *absolute(const char *path) {
    OWNED char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);

    return here ? must_format("%s/%s", here, path) : must_copy(path);
}

static bool is_own_directory(const char *path) {
    struct stat facts;

    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
           !(facts.st_mode & 022);
}

/* ABOVE/NAME, made for only this user; else NAME.2 and so on, as the library has it: another user
 * may have put something there. NULL: no absolute path, or nothing can be made. */
static char *private_directory(const char *above, const char *name) {
    const bool is_plain = above && above[0] == '/' && !strchr(above, '%'); /* of %p, %n, %r */

    for (int i = 1; is_plain && i < DIRECTORIES_TRIED; i++) {
        char *path =
            i == 1 ? must_format("%s/%s", above, name) : must_format("%s/%s.%d", above, name, i);
        mkdir(path, 0700);
        if (is_own_directory(path) && can_write_in(path))
            return path;
        free(path);
    }
    return NULL;
}

/* Not below $HOME, which nodes may share over a network: each record is a write. Nor where another
 * user may rename what is made. */
static char *default_place(void) {
    OWNED char *name = must_format("whichcudnn-%u", (unsigned)geteuid());
    const char *state = getenv("XDG_STATE_HOME");

    if (state && state[0] == '/')
        mkdir(state, 0700);
    return private_directory(state && is_own_directory(state) ? state : NULL, "whichcudnn")
               ?: private_directory("/tmp", name)
               ?: private_directory(getenv("TMPDIR"), name)
               ?: getcwd(NULL, 0) ?: must_copy("/tmp");
}

/* A value is a directory or a file name, in which %p, %n and %r mean what the process puts
 * there: up to the first of them the name is known. */
static void split(struct log_place *place) {
    const char *value = place->value, *name = wc_base_name(value);
    const bool is_directory = wc_is_directory(&disk_files, value);
    const bool is_whole = !strchr(name, '%') && wc_str_ends(name, LOG_ENDING);
    /* Others have their number before the ending. */
    const size_t known = is_whole ? strlen(name) - strlen(LOG_ENDING) : strcspn(name, "%");
    size_t n = is_directory ? strlen(value) : wc_dir_length(value);

    while (is_directory && n > 1 && value[n - 1] == '/') /* "logs/" is "logs" */
        n--;
    place->prefix = is_directory ? must_copy("whichcudnn-") : must_format("%.*s", (int)known, name);
    if (is_directory || !memchr(value, '%', n))
        place->directory = must_format("%.*s", (int)n, value);
}

void log_place_choose(struct log_place *place, const char *given) {
    *place = (struct log_place){.passing = false};
    if (!given)
        given = getenv("WHICHCUDNN_LOG");
    place->named = given && *given;
    place->value = place->named ? absolute(given) : default_place();
    if (place->named && wc_str_ends(place->value, "/") && mkdir(place->value, 0777) != 0 &&
        errno != EEXIST)
        complain("%s: %s", place->value, strerror(errno));
    split(place);
    if (place->directory && !log_place_is_none(place) && !log_place_is_good(place))
        complain("%s: logs cannot be written here", place->directory);
}

void log_place_of_library(struct log_place *place) {
    const char *other = getenv("TMPDIR");
    const char *temporary = can_write_in("/tmp") || !other ? "/tmp" : other;

    *place =
        (struct log_place){.value = must_format("%s/whichcudnn-%u", temporary, (unsigned)geteuid()),
                           .prefix = must_copy("whichcudnn-")};
    place->directory = must_copy(is_own_directory(place->value) ? place->value : temporary);
}

char *log_place_other_name(const char *name, int64_t number) {
    size_t n = strlen(name) - (wc_str_ends(name, LOG_ENDING) ? strlen(LOG_ENDING) : 0);

    return must_format("%.*s-%jd" LOG_ENDING, (int)n, name, (intmax_t)number);
}

void log_place_read(struct log_place *place, const char *given) {
    *place = (struct log_place){.named = true, .value = absolute(given)};
    split(place);
}

bool log_place_is_none(const struct log_place *place) {
    return strcmp(place->value, "/dev/null") == 0;
}

bool log_place_is_good(const struct log_place *place) {
    return !log_place_is_none(place) && can_write_in(place->directory);
}

void log_place_end(struct log_place *place) {
    free(place->value);
    free(place->directory);
    free(place->prefix);
}

/* ---- the library's file ---- */

char *shim_file_trouble(const char *path) {
    struct elf_file *file = elf_file_open(NULL, path, true);
    char *trouble = NULL;

    if (!file)
        trouble = must_format("%s cannot be read: %s", path, strerror(errno));
    else if (file->error != WC_ELF_OK)
        trouble = must_format("%s is not a library of 64 bits, or is truncated", path);
    else if (file->image.machine != OWN_MACHINE)
        trouble = must_format("%s is for another processor than this one, " OWN_PROCESSOR, path);
    elf_file_close(file);
    return trouble;
}

/* ---- the newest log ---- */

#define OWN_NAME "whichcudnn" /* of directories */
#define OWN_PREFIX OWN_NAME "-"

struct search {
    struct newest found;
    char *looked;
};

/* prefix: a name that the user gave; else the shim's own. */
static void look_into(struct search *s, const char *directory, const char *prefix) {
    OWNED char *before = s->looked, *begin = must_format("%s/%s", directory, prefix);
    const bool is_whole = *prefix && strcmp(prefix, OWN_PREFIX) != 0;
    OWNED_GLOB glob_t found = glob_below("", begin, is_whole ? "*" : "*.jsonl*", GLOB_NOSORT);
    struct stat facts;

    s->looked = before ? must_format("%s, %s", before, directory) : must_copy(directory);
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (lstat(found.gl_pathv[i], &facts) == 0 && S_ISREG(facts.st_mode) &&
            facts.st_uid == getuid() && facts.st_size > 0)
            take_newer(&s->found, found.gl_pathv[i], facts.st_mtim);
}

/* `run` and the library put logs into directories of the user's own (above; log.c of the shim).
 */
static void look_below(struct search *s, const char *temporary) {
    struct stat facts;

    if (!temporary)
        return;
    look_into(s, temporary, OWN_PREFIX);
    OWNED char *begin = must_format("%s/" OWN_NAME, temporary);
    OWNED_GLOB glob_t found = glob_below("", begin, "*", GLOB_NOSORT);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i], *rest = path + strlen(begin);
        if ((rest[0] != '-' || wc_is_digit(rest[1])) && lstat(path, &facts) == 0 &&
            S_ISDIR(facts.st_mode) && facts.st_uid == getuid())
            look_into(s, path, OWN_PREFIX);
    }
}

char *newest_log(char **looked) {
    const char *given = getenv("WHICHCUDNN_LOG");
    struct search s = {.looked = NULL};

    if (given && *given) {
        ENDED_BY(log_place_end) struct log_place place;
        log_place_read(&place, given);
        if (place.directory)
            look_into(&s, place.directory, place.prefix);
    }
    look_into(&s, ".", OWN_PREFIX);
    look_below(&s, getenv("XDG_STATE_HOME"));
    look_below(&s, getenv("TMPDIR"));
    look_below(&s, "/tmp");
    *looked = s.looked;
    return s.found.path;
}

/* ---- programs in which it cannot wake ---- */

#define LINE_MOST 256  /* so much of a script's first line the kernel reads */
#define SCRIPT_DEPTH 4 /* as deep as the kernel goes (fs/exec.c) */

char *find_program(const char *name, const char *list) {
    struct stat facts;

    WC_EACH_ELEMENT(e, strchr(name, '/') ? "" : list, ":") {
        char *path = must_format("%.*s%s%s", (int)e.n, e.p, e.n ? "/" : "", name);

        if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* The loader ignores LD_PRELOAD with a path where the kernel says AT_SECURE. */
char *unobserved_rights(const char *path) {
    struct stat facts;

    if (stat(path, &facts) != 0)
        return NULL;
    if ((facts.st_mode & S_ISUID && facts.st_uid != getuid()) ||
        (facts.st_mode & S_ISGID && facts.st_mode & S_IXGRP && facts.st_gid != getgid()))
        return must_format("%s runs with another user's or group's rights (set-id): the loader "
                           "preloads nothing into it",
                           path);
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return must_format("%s has file capabilities: the loader preloads nothing into it", path);
    return NULL;
}

/* *next: the interpreter of a script's first line; NULL: it is none. */
static char *file_reason(const char *path, char **next) {
    OWNED char *head = disk_text(path, LINE_MOST, NULL);
    const char *line =
        head && wc_str_starts(head, "#!") ? head + 2 + strspn(head + 2, " \t") : NULL;
    struct elf_file *file = elf_file_open(NULL, path, true);
    const struct wc_elf_image *e = file ? &file->image : NULL;
    const char *loader = e ? wc_elf_at(e, e->interpreter, e->interpreter_size) : NULL;
    char *reason = NULL;

    *next = line ? must_format("%.*s", (int)strcspn(line, " \t\n"), line) : NULL;
    if (file && (file->error == WC_ELF_WRONG_CLASS || (e->machine && e->machine != OWN_MACHINE)))
        reason = must_format("%s is a program for another architecture than the shim", path);
    else if (file && (file->error == WC_ELF_NO_DYNAMIC || (e->machine && !e->interpreter_size)))
        reason = must_format("%s is linked statically: no dynamic loader preloads anything into it",
                             path);
    else if (loader && memmem(loader, e->interpreter_size, "ld-musl", 7))
        reason = must_format("%s is a program for musl, and the shim is for glibc", path);
    elf_file_close(file);
    return reason || line ? reason : unobserved_rights(path);
}

char *unobserved_reason(const char *command, char **program) {
    const char *list = getenv("PATH");
    char *path = find_program(command, list ? list : "/bin:/usr/bin"), *next, *reason = NULL;

    *program = NULL;
    for (int depth = 0; path && !reason && depth <= SCRIPT_DEPTH; depth++) {
        reason = file_reason(path, &next);
        free(*program);
        *program = path;
        path = next;
    }
    free(path);
    return reason;
}
