/* SPDX-License-Identifier: Apache-2.0 */
#include "ldconfig.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/search/search.h"
#include "tools/observe/elf/elf_file.h"
#include "tools/util/memory.h"

/* ---- /etc/ld.so.conf ---- */

enum { FILES_MOST = 256 }; /* a file can include itself */

struct reading {
    struct wc_arena *memory;
    const struct wc_files *files;
    struct entries out;
    int read; /* files */
};

WC_COMPARE(by_name, char *const, strcmp(*x, *y));

static void read_file(struct reading *r, const char *path);

/* As glob(3) in the last element: in no other one a distribution has a pattern. */
static void include(struct reading *r, const char *of, const char *pattern) {
    const char *path = *pattern == '/' ? pattern
                                       : wc_arena_format(r->memory, "%.*s/%s",
                                                         (int)wc_dir_length(of), of, pattern);
    const char *directory = wc_arena_format(r->memory, "%.*s", (int)wc_dir_length(path), path);
    const struct entries all = entries_of(r->memory, r->files, directory);

    if (all.n)
        qsort(all.p, all.n, sizeof(*all.p), by_name);
    WC_EACH(entry, all)
        if (fnmatch(wc_base_name(path), *entry, FNM_PERIOD) == 0)
            read_file(r, wc_arena_format(r->memory, "%s/%s", directory, *entry));
}

static void read_file(struct reading *r, const char *path) {
    static const char word[] = "include";
    char *rest = r->read++ < FILES_MOST ? text_of_file(r->memory, r->files, path) : NULL;
    char *line, *pattern;

    while ((line = strsep(&rest, "\n"))) {
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, " \t\r");
        if (wc_str_starts(line, word) && strchr(" \t", line[sizeof(word) - 1])) {
            line += sizeof(word);
            while ((pattern = strsep(&line, " \t\r")))
                if (*pattern)
                    include(r, path, pattern);
        } else if (line[0] == '/') {
            size_t n = strcspn(line, "="); /* "/lib=libc6" */
            while (n > 1 && (line[n - 1] == '/' || strchr(" \t\r", line[n - 1])))
                n--;
            entries_add_new(r->memory, &r->out, wc_arena_string_n(r->memory, line, n));
        }
    }
}

struct entries ldconfig_directories(struct wc_arena *memory, const struct wc_files *files) {
    struct reading r = {.memory = memory, .files = files};

    read_file(&r, "/etc/ld.so.conf");
    return r.out;
}

/* ---- /etc/ld.so.cache ---- */

/* Of the new format, which core/search/cache.c reads. */
#define MAGIC "glibc-ld.so.cache1.1"
enum { HEADER = 48, ENTRY = 24, COUNT = 20, TEXTS = 24, EXTENSION = 32, SECTION = 16 };
#define EXTENSION_MAGIC 0xEAA42174u

static uint32_t get(const unsigned char *p) {
    uint32_t value;

    memcpy(&value, p, sizeof(value));
    return value;
}

static void put(unsigned char *p, uint32_t value) {
    memcpy(p, &value, sizeof(value));
}

static const char *text_at(struct wc_span cache, uint32_t offset) {
    return offset < cache.n && memchr(cache.p + offset, 0, cache.n - offset)
               ? (const char *)cache.p + offset
               : "";
}

/* The place of its directory on the list; the list's length: on none, or it does not exist. */
static size_t rank(const struct wc_files *files, const struct entries *directories,
                   const char *path) {
    const size_t n = wc_dir_length(path);
    struct wc_file_stat facts;
    size_t i = 0;

    if (!files->facts(files->ctx, path, &facts))
        return directories->n + 1;
    while (i < directories->n &&
           !(strncmp(directories->p[i], path, n) == 0 && !directories->p[i][n]))
        i++;
    return i;
}

/* What points past the entries points to the same text as before. */
static bool move_texts(unsigned char *p, size_t size, uint32_t by) {
    const uint32_t at = get(p + EXTENSION) ? get(p + EXTENSION) + by : 0;
    const uint32_t sections =
        at && at <= size - 8 && get(p + at) == EXTENSION_MAGIC ? get(p + at + 4) : 0;

    if (at && (at > size - 8 || sections > (size - 8 - at) / SECTION))
        return false;
    put(p + EXTENSION, at);
    for (uint32_t i = 0; i < sections; i++) {
        unsigned char *section = p + at + 8 + i * (size_t)SECTION;
        const uint32_t from = get(section + 8) + by, n = get(section + 12);
        put(section + 8, from);
        if (from > size || n > size - from)
            return false;
        for (uint32_t k = 0; get(section) == 1 && k + 4 <= n; k += 4) /* names of glibc-hwcaps */
            put(p + from + k, get(p + from + k) + by);
    }
    return true;
}

/* Before which entry of the cache it comes. */
static uint32_t place_of(struct wc_span cache, const struct wc_files *files,
                         const struct entries *directories, const struct ldconfig_entry *e,
                         bool *there) {
    const uint32_t count = get(cache.p + COUNT);
    const size_t own = rank(files, directories, e->path);
    uint32_t i = 0;

    for (; i < count; i++) {
        const unsigned char *entry = cache.p + HEADER + i * (size_t)ENTRY;
        const int order = wc_search_cache_order(e->name, text_at(cache, get(entry + 4)));
        const char *path = text_at(cache, get(entry + 8));
        *there = *there || (order == 0 && strcmp(path, e->path) == 0);
        if (order > 0 || (order == 0 && !get(entry + 20) && own < rank(files, directories, path)))
            break;
    }
    return i;
}

static unsigned char *with_one(struct wc_span cache, uint32_t at, const struct ldconfig_entry *e,
                               size_t *size) {
    const size_t name = strlen(e->name) + 1, path = strlen(e->path) + 1;
    const size_t split = HEADER + at * (size_t)ENTRY;
    unsigned char *p = must_allocate(cache.n + ENTRY + name + path), *entry = p + split;

    *size = cache.n + ENTRY + name + path;
    memcpy(p, cache.p, split);
    memset(entry, 0, ENTRY);
    memcpy(entry + ENTRY, cache.p + split, cache.n - split);
    put(p + COUNT, get(p + COUNT) + 1);
    put(p + TEXTS, get(p + TEXTS) + (uint32_t)(name + path));
    for (uint32_t i = 0; i < get(p + COUNT); i++) {
        unsigned char *other = p + HEADER + i * (size_t)ENTRY;
        put(other + 4, i == at ? (uint32_t)(cache.n + ENTRY) : get(other + 4) + ENTRY);
        put(other + 8, i == at ? (uint32_t)(cache.n + ENTRY + name) : get(other + 8) + ENTRY);
    }
    put(entry, OWN_MACHINE == EM_X86_64 ? 0x0303 : 0x0a03);
    memcpy(p + cache.n + ENTRY, e->name, name);
    memcpy(p + cache.n + ENTRY + name, e->path, path);
    return p;
}

/* Without what old loaders read before it; a new one that is empty, where there is none. */
static unsigned char *begin(struct wc_span cache, size_t *size) {
    const unsigned char *from =
        cache.n ? memmem(cache.p, cache.n, MAGIC, strlen(MAGIC)) : (const unsigned char *)MAGIC;

    *size = cache.n && from ? cache.n - (size_t)(from - (const unsigned char *)cache.p) : HEADER;
    if (!from || *size < HEADER || (cache.n && get(from + COUNT) > (*size - HEADER) / ENTRY))
        return NULL;
    unsigned char *p = must_allocate(*size);
    memset(p, 0, *size);
    memcpy(p, from, cache.n ? *size : strlen(MAGIC));
    return p;
}

unsigned char *ldconfig_cache(struct wc_span cache, const struct wc_files *files,
                              const struct entries *directories, const struct ldconfig_entry *added,
                              size_t n, size_t *size) {
    unsigned char *p = begin(cache, size);
    bool any = false;

    for (size_t i = 0; p && i < n; i++) {
        const struct wc_span now = {p, *size};
        bool there = false;
        const uint32_t at = place_of(now, files, directories, &added[i], &there);
        unsigned char *next = there ? NULL : with_one(now, at, &added[i], size);
        if (!next)
            continue;
        any = true;
        free(p);
        p = next;
        if (!move_texts(p, *size, ENTRY))
            any = false, n = 0;
    }
    if (!any) {
        free(p);
        p = NULL;
    }
    return p;
}
