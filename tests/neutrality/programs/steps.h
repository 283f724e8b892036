/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a case does, step by step, as words on the command line or in a macro; each prints what came
 * of it. Everything is static: whoever includes this is the caller that the loader sees.
 *
 *   open H FLAGS NAME          H = dlopen(NAME, FLAGS); FLAGS: now+global ...; NAME: NULL, EMPTY,
 *                              CWD/... (absolute), n*300 (so many n)
 *   opens H WHERE FLAGS NAME   dlmopen; WHERE: new, base, a number, or a handle: where that one is
 *   sym H NAME, vsym H NAME VERSION    who has it; H may be DEFAULT or NEXT
 *   call H NAME                what the function that dlsym finds returns
 *   close H, error, noload NAME, mapped FILE, same H K, list, counts
 *   origin H, lmid H [K], paths H      dlinfo
 *   errno N                    from here on set before each dl call, and told after it
 *   chdir DIR, setenv NAME VALUE, user (be nobody, where it was root)
 *   voice H, in H STEP         a library with speaks.c in it does that step: it is the caller then
 *   other STEP                 a second thread does it, always the same one
 */
#ifndef STEPS_H
#define STEPS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "see.h"

struct steps;
typedef void steps_function(struct steps *, const char *);

struct steps_handle {
    char name[16];
    void *handle;
    steps_function *voice;
};

struct steps {
    struct steps_handle handles[32];
    char cwd[1024]; /* at the start; as are paths, that are told without it */
    int preset;     /* errno before each dl call; 0: not told */
    struct {
        bool started;
        pthread_t thread;
        sem_t begin, over;
        const char *step;
    } other;
};

static void steps_do(struct steps *s, const char *step);

/* ---- words ---- */

static inline void steps_fail(const char *why, const char *what) {
    see("bad step", "%s: %s", why, what);
    _exit(98);
}

/* The next word, and behind it; the last word is all that is left. */
static inline void steps_word(const char **at, char *to, size_t cap) {
    size_t n = strcspn(*at, " ");
    snprintf(to, cap, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == ' ');
}

static inline struct steps_handle *steps_find(struct steps *s, const char *name) {
    for (int i = 0; i < 32; i++)
        if (!s->handles[i].name[0] || !strcmp(s->handles[i].name, name)) {
            snprintf(s->handles[i].name, sizeof s->handles[i].name, "%s", name);
            return &s->handles[i];
        }
    steps_fail("too many handles", name);
    return NULL;
}

static inline void *steps_handle_of(struct steps *s, const char *name) {
    if (!strcmp(name, "DEFAULT"))
        return RTLD_DEFAULT;
    if (!strcmp(name, "NEXT"))
        return RTLD_NEXT;
    return steps_find(s, name)->handle;
}

static inline int steps_flags(const char *words) {
    static const struct {
        const char *word;
        int flag;
    } known[] = {{"lazy", RTLD_LAZY},         {"now", RTLD_NOW},          {"local", RTLD_LOCAL},
                 {"global", RTLD_GLOBAL},     {"noload", RTLD_NOLOAD},    {"none", 0},
                 {"nodelete", RTLD_NODELETE}, {"deepbind", RTLD_DEEPBIND}};
    int flags = 0;
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, "+"), i = 0;
        while (i < sizeof known / sizeof *known &&
               (strlen(known[i].word) != n || strncmp(known[i].word, at, n) != 0))
            i++;
        if (i == sizeof known / sizeof *known)
            steps_fail("no such flag", words);
        flags |= known[i].flag;
        at += n + (at[n] == '+');
    }
    return flags;
}

/* What a step calls a file name; NULL for NULL. */
static inline const char *steps_name(struct steps *s, const char *word, char *to, size_t cap) {
    if (!strcmp(word, "NULL"))
        return NULL;
    if (!strcmp(word, "EMPTY"))
        return "";
    if (!strncmp(word, "CWD/", 4)) {
        snprintf(to, cap, "%s%s", s->cwd, word + 3);
        return to;
    }
    size_t n = strncmp(word, "n*", 2) ? 0 : strtoul(word + 2, NULL, 10);
    if (!n || n >= cap)
        return word;
    memset(to, 'n', n);
    to[n] = 0;
    return to;
}

/* Without the directory it was started in, and with n*300 for so many n. */
static inline const char *steps_short(struct steps *s, const char *text, char *to, size_t cap) {
    size_t length = strlen(s->cwd), n = 0;
    for (const char *at = text; *at && n + 32 < cap;) {
        size_t run = strspn(at, "n");
        if (length && !strncmp(at, s->cwd, length) && at[length] == '/') {
            at += length + 1;
        } else if (run > 8) {
            n += (size_t)snprintf(to + n, cap - n, "n*%zu", run);
            at += run;
        } else {
            to[n++] = *at++;
        }
    }
    to[n] = 0;
    return to;
}

/* ---- what is told ---- */

static inline void steps_tell_errno(struct steps *s) {
    int now = errno;
    if (s->preset)
        see("errno", "%d", now);
}

static inline const char *steps_who(struct steps *s, void *value, char *to, size_t cap) {
    Dl_info info;
    char file[1024];
    if (!value)
        return "nothing";
    if (!dladdr(value, &info))
        return "unknown";
    snprintf(to, cap, "%s:%s", steps_short(s, info.dli_fname, file, sizeof file),
             info.dli_sname ? info.dli_sname : "?");
    return to;
}

static inline void steps_tell_opened(struct steps *s, const char *name, void *handle) {
    struct link_map *map = NULL;
    char shown[1024], path[1024];
    steps_short(s, name, shown, sizeof shown);
    if (!handle)
        see("open", "%s -> failed", shown);
    else if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map)
        see("open", "%s -> no link map", shown);
    else
        see("open", "%s -> %s", shown,
            map->l_name[0] ? steps_short(s, map->l_name, path, sizeof path) : "the program");
}

/* ---- dl calls ---- */

static inline void steps_open(struct steps *s, const char *rest) {
    char h[16], flags[64], long_name[8192];
    steps_word(&rest, h, sizeof h);
    steps_word(&rest, flags, sizeof flags);
    const char *name = steps_name(s, rest, long_name, sizeof long_name);
    struct steps_handle *to = steps_find(s, h);
    int bits = steps_flags(flags);
    errno = s->preset;
    to->handle = dlopen(name, bits);
    steps_tell_errno(s);
    steps_tell_opened(s, name ? rest : "NULL", to->handle);
}

static inline Lmid_t steps_where(struct steps *s, const char *word) {
    Lmid_t id = 0;
    if (!strcmp(word, "new"))
        return LM_ID_NEWLM;
    if (!strcmp(word, "base"))
        return LM_ID_BASE;
    if (word[0] >= '0' && word[0] <= '9')
        return strtol(word, NULL, 10);
    if (dlinfo(steps_handle_of(s, word), RTLD_DI_LMID, &id) != 0)
        steps_fail("no namespace", word);
    return id;
}

static inline void steps_opens(struct steps *s, const char *rest) {
    char h[16], where[16], flags[64], long_name[8192];
    steps_word(&rest, h, sizeof h);
    steps_word(&rest, where, sizeof where);
    steps_word(&rest, flags, sizeof flags);
    const char *name = steps_name(s, rest, long_name, sizeof long_name);
    Lmid_t id = steps_where(s, where);
    struct steps_handle *to = steps_find(s, h);
    int bits = steps_flags(flags);
    errno = s->preset;
    to->handle = dlmopen(id, name, bits);
    steps_tell_errno(s);
    steps_tell_opened(s, name ? rest : "NULL", to->handle);
}

static inline void steps_sym(struct steps *s, const char *rest) {
    char h[16], who[2048];
    steps_word(&rest, h, sizeof h);
    void *handle = steps_handle_of(s, h);
    errno = s->preset;
    void *value = dlsym(handle, rest);
    steps_tell_errno(s);
    see("sym", "%s of %s -> %s", rest, h, steps_who(s, value, who, sizeof who));
}

static inline void steps_vsym(struct steps *s, const char *rest) {
    char h[16], name[256], who[2048];
    steps_word(&rest, h, sizeof h);
    steps_word(&rest, name, sizeof name);
    void *handle = steps_handle_of(s, h);
    errno = s->preset;
    void *value = dlvsym(handle, name, rest);
    steps_tell_errno(s);
    see("vsym", "%s@%s of %s -> %s", name, rest, h, steps_who(s, value, who, sizeof who));
}

static inline void steps_call(struct steps *s, const char *rest) {
    char h[16];
    steps_word(&rest, h, sizeof h);
    void *handle = steps_handle_of(s, h);
    errno = s->preset;
    long (*function)(void) = (long (*)(void))dlsym(handle, rest);
    if (!function)
        see("call", "%s of %s -> nothing", rest, h);
    else
        see("call", "%s of %s -> %ld", rest, h, function());
    steps_tell_errno(s);
}

static inline void steps_close(struct steps *s, const char *h) {
    void *handle = steps_handle_of(s, h);
    errno = s->preset;
    int result = dlclose(handle);
    steps_tell_errno(s);
    see("close", "%s -> %d", h, result);
}

static inline void steps_error(struct steps *s) {
    char text[8192];
    errno = s->preset;
    const char *printed = dlerror();
    steps_tell_errno(s);
    see("dlerror", "%s", printed ? steps_short(s, printed, text, sizeof text) : "none");
}

static inline void steps_noload(struct steps *s, const char *name) {
    errno = s->preset;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    steps_tell_errno(s);
    see("noload", "%s -> %s", name, handle ? "loaded" : "not loaded");
    if (handle)
        dlclose(handle);
}

static inline void steps_lmid(struct steps *s, const char *rest) {
    char h[16];
    steps_word(&rest, h, sizeof h);
    Lmid_t id = 0, with = 0;
    errno = s->preset;
    int result = dlinfo(steps_handle_of(s, h), RTLD_DI_LMID, &id);
    steps_tell_errno(s);
    if (*rest && dlinfo(steps_handle_of(s, rest), RTLD_DI_LMID, &with) == 0)
        see("lmid", "%s and %s -> %s", h, rest, id == with ? "the same" : "two");
    else
        see("lmid", "%s -> %d %s", h, result, id == LM_ID_BASE ? "base" : "another");
}

static inline void steps_origin(struct steps *s, const char *h) {
    char origin[1024], shown[1024];
    errno = s->preset;
    int result = dlinfo(steps_handle_of(s, h), RTLD_DI_ORIGIN, origin);
    steps_tell_errno(s);
    see("origin", "%s -> %d %s", h, result, steps_short(s, origin, shown, sizeof shown));
}

/* The system's own directories have no place in an expectation. */
static inline void steps_paths(struct steps *s, const char *h) {
    union {
        Dl_serinfo info;
        char room[16384];
    } u = {.room = {0}};
    char line[4096] = "", shown[1024];
    void *handle = steps_handle_of(s, h);
    if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &u.info) != 0 || u.info.dls_size > sizeof u ||
        dlinfo(handle, RTLD_DI_SERINFO, &u.info) != 0) {
        see("paths", "%s -> failed", h);
        return;
    }
    for (unsigned i = 0; i < u.info.dls_cnt; i++) {
        const char *path = u.info.dls_serpath[i].dls_name;
        if (path[0] == '/' && strncmp(path, s->cwd, strlen(s->cwd)) != 0)
            continue;
        strcat(strcat(line, " "), steps_short(s, path, shown, sizeof shown));
    }
    see("paths", "%s ->%s", h, line);
}

/* ---- what is there ---- */

static inline void steps_mapped(struct steps *s, const char *file) {
    static char maps[1 << 20];
    char path[2048];
    size_t n = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, maps + n, sizeof maps - 1 - n)) > 0)
        n += (size_t)got;
    close(fd);
    maps[n] = 0;
    snprintf(path, sizeof path, "%s/%s\n", s->cwd, file);
    see("references", "%s %s", file, strstr(maps, path) ? "mapped" : "gone");
}

struct steps_list {
    struct steps *s;
    char line[4096];
};

static inline int steps_list_each(struct dl_phdr_info *info, size_t size, void *argument) {
    struct steps_list *l = argument;
    char shown[1024];
    (void)size;
    steps_short(l->s, info->dlpi_name, shown, sizeof shown);
    bool preloaded = strstr(shown, "libwhichcudnn") != NULL;
    if (shown[0] && shown[0] != '/' && strcmp(shown, "linux-vdso.so.1") != 0 && !preloaded)
        strcat(strcat(l->line, " "), shown);
    return 0;
}

static inline void steps_list(struct steps *s) {
    struct steps_list l = {.s = s};
    dl_iterate_phdr(steps_list_each, &l);
    see("list", "%s", l.line[0] ? l.line + 1 : "nothing");
}

static inline int steps_counts_each(struct dl_phdr_info *info, size_t size, void *argument) {
    unsigned long long *now = argument;
    (void)size;
    now[0] = info->dlpi_adds;
    now[1] = info->dlpi_subs;
    return 1;
}

/* Since they were last told. */
static inline void steps_counts(void) {
    static unsigned long long before[2];
    unsigned long long now[2] = {0, 0};
    dl_iterate_phdr(steps_counts_each, now);
    if (before[0])
        see("counts", "adds +%llu subs +%llu", now[0] - before[0], now[1] - before[1]);
    before[0] = now[0];
    before[1] = now[1];
}

/* ---- other callers ---- */

static inline void steps_voice(struct steps *s, const char *h) {
    struct steps_handle *of = steps_find(s, h);
    if (!(of->voice = (steps_function *)dlsym(of->handle, "speak")))
        steps_fail("cannot speak", h);
}

static inline void steps_in(struct steps *s, const char *rest) {
    char h[16];
    steps_word(&rest, h, sizeof h);
    struct steps_handle *in = steps_find(s, h);
    if (!in->voice)
        steps_fail("has no voice", h);
    in->voice(s, rest);
}

static inline void *steps_other_thread(void *argument) {
    struct steps *s = argument;
    for (;;) {
        while (sem_wait(&s->other.begin) != 0)
            ;
        if (!s->other.step)
            return NULL;
        steps_do(s, s->other.step);
        sem_post(&s->other.over);
    }
}

static inline void steps_other(struct steps *s, const char *step) {
    if (!s->other.started) {
        sem_init(&s->other.begin, 0, 0);
        sem_init(&s->other.over, 0, 0);
        /* Bound before there are two threads that race to bind them. */
        sem_post(&s->other.over);
        sem_wait(&s->other.over);
        if (pthread_create(&s->other.thread, NULL, steps_other_thread, s) != 0)
            abort();
        s->other.started = true;
    }
    s->other.step = step;
    sem_post(&s->other.begin);
    while (sem_wait(&s->other.over) != 0)
        ;
}

/* ---- */

static inline void steps_user(void) {
    if (geteuid() == 0 &&
        (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
        steps_fail("cannot", "user");
}

static inline void steps_setenv(const char *rest) {
    char name[64];
    steps_word(&rest, name, sizeof name);
    setenv(name, rest, 1);
}

static inline void steps_same(struct steps *s, const char *rest) {
    char h[16];
    steps_word(&rest, h, sizeof h);
    bool same = steps_handle_of(s, h) == steps_handle_of(s, rest);
    see("same", "%s %s -> %s", h, rest, same ? "yes" : "no");
}

static inline bool steps_do_dl(struct steps *s, const char *verb, const char *rest) {
    if (!strcmp(verb, "open"))
        steps_open(s, rest);
    else if (!strcmp(verb, "opens"))
        steps_opens(s, rest);
    else if (!strcmp(verb, "sym"))
        steps_sym(s, rest);
    else if (!strcmp(verb, "vsym"))
        steps_vsym(s, rest);
    else if (!strcmp(verb, "call"))
        steps_call(s, rest);
    else if (!strcmp(verb, "close"))
        steps_close(s, rest);
    else if (!strcmp(verb, "error"))
        steps_error(s);
    else if (!strcmp(verb, "noload"))
        steps_noload(s, rest);
    else if (!strcmp(verb, "lmid"))
        steps_lmid(s, rest);
    else if (!strcmp(verb, "origin"))
        steps_origin(s, rest);
    else if (!strcmp(verb, "paths"))
        steps_paths(s, rest);
    else
        return false;
    return true;
}

static void steps_do(struct steps *s, const char *step) {
    char verb[16];
    const char *rest = step;
    if (!s->cwd[0] && !getcwd(s->cwd, sizeof s->cwd))
        steps_fail("no directory", step);
    steps_word(&rest, verb, sizeof verb);
    if (steps_do_dl(s, verb, rest))
        return;
    if (!strcmp(verb, "mapped"))
        steps_mapped(s, rest);
    else if (!strcmp(verb, "same"))
        steps_same(s, rest);
    else if (!strcmp(verb, "list"))
        steps_list(s);
    else if (!strcmp(verb, "counts"))
        steps_counts();
    else if (!strcmp(verb, "voice"))
        steps_voice(s, rest);
    else if (!strcmp(verb, "in"))
        steps_in(s, rest);
    else if (!strcmp(verb, "other"))
        steps_other(s, rest);
    else if (!strcmp(verb, "errno"))
        s->preset = atoi(rest);
    else if (!strcmp(verb, "user"))
        steps_user();
    else if (!strcmp(verb, "setenv"))
        steps_setenv(rest);
    else if (!strcmp(verb, "say"))
        see("said", "%s", rest);
    else if (strcmp(verb, "chdir") != 0 || chdir(rest) != 0)
        steps_fail("cannot", step);
}

#endif
