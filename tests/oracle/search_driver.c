/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers what the loader would try, for search_oracle.py. One line a request, fields split by
 * tabs:
 *
 *   world FIELD VALUE        library_path, origin, machine, cache, secure
 *   system LOADER GLIBC_MINOR
 *                            uses what core/search/system.c says of this machine, and prints
 *                            "default|subdirectory|hwcap|lib|platform TEXT" lines, then "end"
 *   object ID PATH ORIGIN RPATH RUNPATH SONAME FLAGS LOADED_BY
 *                            it is loaded; "-" is none; FLAGS: p program, n no default directories
 *   name ID NAME             it was asked for by that name
 *   gone ID                  it is loaded no longer
 *   ask CALLER NAME          prints "try RULE STATE PATH" lines, then "end"; before
 *                            that "sparse NAME" where the search that leaves out what is not there
 *                            finds anything else
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/search/search.h"

static bool file_read(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                      size_t *n) {
    (void)ctx;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : pread(fd, to, cap, (off_t)offset);
    if (fd >= 0)
        close(fd);
    if (got < 0)
        return false;
    *n = (size_t)got;
    return true;
}
static bool file_facts(void *ctx, const char *path, struct wc_file_stat *out) {
    struct stat st;
    (void)ctx;
    if (stat(path[0] ? path : ".", &st) != 0)
        return false;
    *out = (struct wc_file_stat){.device = st.st_dev,
                                 .inode = st.st_ino,
                                 .size = (uint64_t)st.st_size,
                                 .mtime = st.st_mtime,
                                 .regular = S_ISREG(st.st_mode),
                                 .directory = S_ISDIR(st.st_mode)};
    return true;
}
static const struct wc_files files = {NULL, file_read, file_facts, NULL, NULL, NULL, NULL};

#define MOST 1024
static struct wc_search_context library_cache;
static struct wc_search_object objects[MOST];
static const struct wc_search_object *loaded[MOST];
static const char *names[MOST][MOST];
static struct wc_search_memory memory, sparse_memory;
static void *more(void *owner, size_t n) {
    (void)owner;
    return calloc(1, n);
}
static struct wc_arena arena = {more, NULL};

static char *keep(const char *s) {
    return strcmp(s, "-") == 0 ? NULL : strdup(s);
}
static void append(const char **list, const char *s) {
    size_t i = 0;
    while (list[i])
        i++;
    if (i + 1 < MOST)
        list[i] = strdup(s);
}

static void remove_loaded(int id) {
    int kept = 0;
    for (int i = 0; loaded[i]; i++)
        if (loaded[i] != &objects[id])
            loaded[kept++] = loaded[i];
    loaded[kept] = NULL;
}

static void add_loaded(int id, char **f) {
    struct wc_search_object *o = &objects[id];
    int i = 0;
    memset(names[id], 0, sizeof names[id]);
    *o = (struct wc_search_object){.path = keep(f[0]),
                                   .origin = keep(f[1]),
                                   .rpath = keep(f[2]),
                                   .runpath = keep(f[3]),
                                   .soname = keep(f[4]),
                                   .is_program = strchr(f[5], 'p') != NULL,
                                   .no_default = strchr(f[5], 'n') != NULL,
                                   .names = names[id],
                                   .loaded_by = strcmp(f[6], "-") ? &objects[atoi(f[6])] : NULL};
    if (o->is_program)
        library_cache.program = o;
    while (loaded[i])
        i++;
    loaded[i] = o;
}

/* What a search comes to, whatever stands in subdirectories that have nothing of the name. */
struct outcome {
    char text[1 << 20];
    size_t n;
};
static bool note(void *outcome, const struct wc_search_candidate *c) {
    struct outcome *o = outcome;
    if (c->state != WC_file_state_NOTHING || !c->in_subdirectory)
        o->n += (size_t)snprintf(o->text + o->n, sizeof o->text - o->n, "%d %d %d %s\n", c->rule,
                                 c->state, c->no_directory, c->path);
    return o->n < sizeof o->text;
}

static bool emit(void *outcome, const struct wc_search_candidate *c) {
    note(outcome, c);
    if (!c->tried)
        return true;
    printf("try\t%s\t%s\t%s\n", wc_enum_word(WC_ENUM_search_rule, c->rule),
           wc_enum_word(WC_ENUM_file_state, c->state), c->path);
    return true;
}

static void read_cache(const char *name) {
    static unsigned char bytes[4 << 20];
    library_cache.cache.p = bytes;
    if (!file_read(NULL, name, 0, bytes, sizeof bytes, &library_cache.cache.n))
        library_cache.cache.n = 0;
}

static void set_world(const char *field, const char *value) {
    if (strcmp(field, "library_path") == 0)
        library_cache.library_path = keep(value);
    else if (strcmp(field, "origin") == 0)
        library_cache.library_path_origin = keep(value);
    else if (strcmp(field, "machine") == 0)
        library_cache.machine = (uint16_t)atoi(value);
    else if (strcmp(field, "cache") == 0)
        read_cache(value);
    else if (strcmp(field, "secure") == 0)
        library_cache.secure = atoi(value);
    else
        exit(2);
}

static void say_each(const char *what, const char *const *list) {
    for (; *list; list++)
        printf("%s\t%s\n", what, *list);
}

static void use_system(const char *loader, const char *minor) {
    static struct wc_search_system system;
    static unsigned char bytes[8 << 20];
    struct wc_elf_image image;
    size_t n = 0;
    if (!file_read(NULL, loader, 0, bytes, sizeof bytes, &n) ||
        wc_elf_from_pieces(&image, bytes, n, NULL, NULL) != WC_ELF_OK)
        exit(2);
    wc_search_system_read(&system, (unsigned)atoi(minor), (const char *)getauxval(AT_PLATFORM),
                          getauxval(AT_HWCAP), &image);
    library_cache.system = &system;
    say_each("default", system.defaults);
    say_each("subdirectory", system.subdirectories);
    say_each("hwcap", system.hwcaps);
    printf("lib\t%s\nplatform\t%s\nend\n", system.lib, system.platform);
    fflush(stdout);
}

static void answer(const struct wc_search_object *by, const char *name) {
    static struct outcome all, sparse;
    static char scratch[256 << 10];
    struct wc_search_context other = library_cache;
    all.n = sparse.n = 0;
    wc_search(&library_cache, by, name, scratch, sizeof scratch, emit, &all);
    other.sparse = true;
    other.memory = &sparse_memory;
    wc_search(&other, by, name, scratch, sizeof scratch, note, &sparse);
    if (all.n != sparse.n || memcmp(all.text, sparse.text, all.n) != 0)
        printf("sparse %s\n", name);
    puts("end");
    fflush(stdout);
}

int main(void) {
    static char line[1 << 16];
    library_cache.files = &files;
    library_cache.memory = &memory;
    library_cache.loaded = loaded;
    memory.arena = sparse_memory.arena = &arena;
    while (fgets(line, sizeof line, stdin)) {
        char *f[10] = {0}, *rest = line;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < 9 && rest; i++)
            f[i] = strsep(&rest, "\t");
        if (strcmp(f[0], "world") == 0) {
            set_world(f[1], f[2]);
        } else if (strcmp(f[0], "object") == 0) {
            add_loaded(atoi(f[1]), f + 2);
        } else if (strcmp(f[0], "name") == 0) {
            append(names[atoi(f[1])], f[2]);
        } else if (strcmp(f[0], "gone") == 0) {
            remove_loaded(atoi(f[1]));
        } else if (strcmp(f[0], "ask") == 0) {
            const struct wc_search_object *by = strcmp(f[1], "-") ? &objects[atoi(f[1])] : NULL;
            answer(by, f[2]);
        } else if (strcmp(f[0], "system") == 0) {
            use_system(f[1], f[2]);
        } else {
            return 2;
        }
    }
    return 0;
}
