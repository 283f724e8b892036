/* SPDX-License-Identifier: Apache-2.0 */
/* What there is: see scan.h. */
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/knowledge/frameworks.h"
#include "core/records/emit.h"
#include "scan_inside.h"
#include "tree_walk.h"

#define NOTES_MOST 1000 /* a damaged disk has more, and they are not read */

static void note(struct scan *s, const char *path, const char *why) {
    if (s->note_count == NOTES_MOST)
        return;
    *MUST_ADD(s->notes, s->note_count) = (struct scan_note){must_copy(path), must_copy(why)};
}

static void walk_trouble(void *ctx, const char *path, const char *why) {
    note(ctx, path, why);
}

/* ---- copies ---- */

static void add_copy(struct scan *s, struct library *b, const char *path) {
    if (b->listed)
        return;
    b->listed = true;
    if (!b->is_elf) {
        note(s, path, "named like a library of cuDNN, but is not a valid ELF file");
        return;
    }
    *MUST_ADD(s->found, s->found_count) = (struct scan_copy){must_copy(path), b};
}

static void report_copy(struct scan *s, const struct scan_copy *c) {
    struct elf_file *file = library_cache_elf_file(&s->library_cache, c->library);
    const struct wc_sink to = source_sink(s->copies);
    struct wc_library l = c->library->about;

    if (!file)
        return;
    elf_file_identify(file, &l);
    l.path = c->path;
    l.number = (int64_t)s->copies->stack.objects.n + 1;
    wc_emit_object(&to, &l, NULL);
    library_cache_elf_file_end(c->library, file);
}

/* ---- hosts ---- */

static bool is_program(const struct library *b) {
    return b->interpreter && !strstr(wc_base_name(wc_library_file(&b->about)), ".so");
}

static void consider(struct scan *s, const char *path, enum elf_prescan_answer answer) {
    struct library *b = library_cache_get(&s->library_cache, path, &answer);

    if (!b) {
        note(s, path, strerror(errno));
        return;
    }
    if (b->is_elf && wc_framework_opens_cudnn(path))
        b->about.role = WC_role_HOST;
    if (wc_library_is_cudnn(&b->about))
        add_copy(s, b, path);
    else if (b->is_elf && (b->about.role == WC_role_HOST || b->about.framework))
        scan_host_add(s, b, path, is_program(b));
}

/* ---- a tree ---- */

static int open_entry(struct scan *s, const char *path, int at, const char *name,
                      enum tree_entry entry, struct stat *facts) {
    int fd;

    if (entry == TREE_LINK)
        return disk_open(&s->library_cache.disk, path, facts);
    fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, facts) != 0 || !S_ISREG(facts->st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

static void look_at_entry(struct scan *s, const char *path, int at, const char *name,
                          enum tree_entry entry) {
    bool is_known = wc_framework_of(name) || wc_framework_opens_cudnn(path);
    enum elf_prescan_answer answer;
    struct stat facts;
    int fd = open_entry(s, path, at, name, entry, &facts);

    /* A link leads nowhere, or to a directory; a program need not be one that may be read. */
    if (fd < 0 && entry != TREE_LIBRARY)
        return;
    if (fd < 0) {
        note(s, path, strerror(errno));
        return;
    }
    s->libraries++;
    answer = elf_prescan_at(&s->library_cache.prescan, fd, (uint64_t)facts.st_size, false);
    close(fd);
    if (entry == TREE_PROGRAM && s->library_cache.prescan.has_interpreter)
        scan_files_add(s, path, true);
    if (answer == ELF_PRESCAN_DAMAGED && entry != TREE_PROGRAM)
        note(s, path, s->library_cache.prescan.why);
    if (answer == ELF_PRESCAN_DAMAGED)
        return;
    if (answer != ELF_PRESCAN_NOTHING || is_known)
        consider(s, path, answer);
}

static void walk_file(void *ctx, const char *path, int at, const char *name,
                      enum tree_entry entry) {
    struct scan *s = ctx;

    if (entry != TREE_PROGRAM)
        scan_files_add(s, path, false);
    switch (wc_name_kind_of(name)) {
    case WC_NAME_FACADE:
    case WC_NAME_PART:
        s->libraries++;
        consider(s, path, ELF_PRESCAN_NAMES);
        break;
    case WC_NAME_OTHER:
        look_at_entry(s, path, at, name, entry);
        break;
    default: /* CUDA's other libraries: a library that needs one finds it */
        break;
    }
}

static void walk_directory(void *ctx, const char *path) {
    struct scan *s = ctx;

    if (scan_is_site(path))
        *MUST_ADD(s->sites, s->site_count) = must_copy(path);
}

static void walk_progress(void *ctx, size_t done, size_t known) {
    struct scan *s = ctx;

    if (s->progress)
        s->progress(done, known);
}

static bool add_tree(struct scan *s, const char *path, char **trouble) {
    struct tree_walk w = {.disk = &s->library_cache.disk,
                          .file = walk_file,
                          .directory = walk_directory,
                          .trouble = walk_trouble,
                          .progress = walk_progress,
                          .ctx = s};

    if (!tree_walk(&w, path)) {
        *trouble = must_copy(strerror(errno));
        return false;
    }
    s->files += w.files;
    return true;
}

/* ---- a file that was named ---- */

static void note_file(void *ctx, const char *path, int at, const char *name,
                      enum tree_entry entry) {
    (void)at, (void)name;
    if (entry != TREE_PROGRAM)
        scan_files_add(ctx, path, false);
}

static void pass_over(void *ctx, const char *path, const char *why) {
    (void)ctx, (void)path, (void)why;
}

/* A library of Python's is loaded by others of its package. */
static void see_package(struct scan *s, const char *path) {
    OWNED char *environment = must_format("%.*s", (int)wc_environment_length(path), path);
    struct tree_walk w = {
        .disk = &s->library_cache.disk, .file = note_file, .trouble = pass_over, .ctx = s};
    OWNED char *package = scan_package(path, environment),
               *grafted = must_format("%s.libs", package);

    if (scan_is_site(environment)) {
        tree_walk(&w, grafted);
        if (!tree_walk(&w, package))
            tree_walk(&w, environment);
    }
}

static bool add_file(struct scan *s, const char *path, char **trouble) {
    struct library *b;

    s->library_cache.named = true;
    b = library_cache_get(&s->library_cache, path, NULL);
    s->library_cache.named = false;
    if (!b || !b->is_elf) {
        *trouble =
            b ? scan_why_not(s, path, "neither a directory nor a program or library (ELF, 64 bits)")
              : must_copy(strerror(errno));
        return false;
    }
    s->libraries++;
    if (wc_library_is_cudnn(&b->about))
        add_copy(s, b, path);
    else
        scan_host_add(s, b, path, is_program(b));
    if (!is_program(b))
        see_package(s, path);
    return true;
}

bool scan_add(struct scan *s, const char *path, char **trouble) {
    char real_path[PATH_MAX];
    struct wc_file_stat facts;

    if (!s->library_cache.disk.files.real_path(&s->library_cache.disk, path, real_path,
                                               sizeof(real_path)) ||
        !s->library_cache.disk.files.facts(&s->library_cache.disk, real_path, &facts)) {
        *trouble = must_copy(strerror(errno));
        return false;
    }
    return facts.directory ? add_tree(s, real_path, trouble) : add_file(s, real_path, trouble);
}

/* A directory gives its files in no order. */
static int by_path(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(void *list, size_t n, size_t size) {
    if (n > 0)
        qsort(list, n, size, by_path);
}

void scan_make(struct scan *s) {
    sort(s->found, s->found_count, sizeof(*s->found));
    sort(s->hosts, s->host_count, sizeof(*s->hosts));
    sort(s->notes, s->note_count, sizeof(*s->notes));
    sort(s->sites, s->site_count, sizeof(*s->sites));
    for (size_t i = 0; i < s->found_count; i++)
        report_copy(s, &s->found[i]);
    scan_make_processes(s);
}

void scan_begin(struct scan *s, const char *root, const char *path, char *const *environment) {
    memset(s, 0, sizeof(*s));
    library_cache_begin(&s->library_cache, root);
    s->environment = environment;
    s->copies = source_new(SOURCE_SCAN, path);
}

void scan_end(struct scan *s) {
    for (size_t i = 0; i < s->process_count; i++)
        source_free(s->processes[i]);
    for (size_t i = 0; i < s->host_count; i++) {
        free(s->hosts[i].path);
        free(s->hosts[i].environment);
    }
    for (size_t i = 0; i < s->found_count; i++)
        free(s->found[i].path);
    free(s->found);
    for (size_t i = 0; i < s->note_count; i++) {
        free(s->notes[i].path);
        free(s->notes[i].why);
    }
    for (size_t i = 0; i < s->site_count; i++)
        free(s->sites[i]);
    free(s->sites);
    free(s->loadings.p);
    free(s->locked.p);
    scan_files_end(s);
    free(s->processes);
    free(s->hosts);
    free(s->notes);
    source_free(s->copies);
    library_cache_end(&s->library_cache);
}
