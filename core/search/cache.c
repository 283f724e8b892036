/*
 * ld.so.cache. The new format ("glibc-ld.so.cache1.1") alone or behind the old one ("ld.so-1.7.0");
 * entries in the order of glibc's _dl_cache_libcmp, greatest first. What is read is bounded by the
 * file's own numbers, which are checked against what is there.
 */
#include <elf.h>

#include "whichcudnn/search.h"

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"
#define OLD_HEADER 16u
#define OLD_ENTRY 12u
#define NEW_HEADER 48u
#define NEW_ENTRY 24u
#define EXTENSION_MAGIC 0xEAA42174u
#define HWCAPS_TAG 1u /* of a section of the extension */
#define NAMED_HWCAP ((uint64_t)1 << 62)
#define NAME_MAX_BYTES 512

struct cache {
    const struct wc_files *files;
    const char *path;
    uint64_t start;   /* of the new format in the file: what its offsets are relative to */
    uint64_t entries; /* offset of the first */
    uint32_t count;
    uint32_t entry_size;
    uint64_t strings;   /* what an entry's offsets are relative to */
    uint64_t end;       /* of the file */
    uint32_t extension; /* relative to start, 0: none */
    bool old;
};

static bool read_at(const struct cache *c, uint64_t at, void *to, size_t n) {
    size_t got = 0;
    return at <= c->end && n <= c->end - at &&
           c->files->read(c->files->ctx, c->path, at, to, n, &got) && got >= n;
}

static uint32_t u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool begin_new(struct cache *c, uint64_t at) {
    unsigned char h[NEW_HEADER];
    if (!read_at(c, at, h, sizeof h) || wc_mem_compare(h, NEW_MAGIC, 20) != 0)
        return false;
    c->start = c->strings = at;
    c->count = u32(h + 20);
    c->entries = at + NEW_HEADER;
    c->entry_size = NEW_ENTRY;
    c->extension = u32(h + 32);
    c->old = false;
    return c->count <= (c->end - c->entries) / NEW_ENTRY;
}

static bool begin(struct cache *c, const struct wc_search_world *w) {
    struct wc_file_facts facts;
    unsigned char h[OLD_HEADER];
    c->files = w->files;
    c->path = w->cache ? w->cache : "/etc/ld.so.cache";
    if (!c->files->facts(c->files->ctx, c->path, &facts) || !facts.regular)
        return false;
    c->end = facts.size;
    if (begin_new(c, 0))
        return true;
    if (!read_at(c, 0, h, sizeof h) || wc_mem_compare(h, OLD_MAGIC, 11) != 0)
        return false;
    uint64_t behind = OLD_HEADER + (uint64_t)u32(h + 12) * OLD_ENTRY;
    if (begin_new(c, (behind + 7) & ~(uint64_t)7))
        return true;
    c->old = true;
    c->start = 0;
    c->entries = OLD_HEADER;
    c->entry_size = OLD_ENTRY;
    c->count = u32(h + 12);
    c->strings = behind;
    c->extension = 0;
    return behind <= c->end;
}

struct entry {
    uint32_t flags, key, value, osversion;
    uint64_t hwcap;
};

static bool entry_at(const struct cache *c, uint32_t i, struct entry *e) {
    unsigned char b[NEW_ENTRY];
    if (i >= c->count || !read_at(c, c->entries + (uint64_t)i * c->entry_size, b, c->entry_size))
        return false;
    *e = (struct entry){u32(b), u32(b + 4), u32(b + 8), 0, 0};
    if (!c->old) {
        e->osversion = u32(b + 12);
        e->hwcap = u32(b + 16) | (uint64_t)u32(b + 20) << 32;
    }
    return true;
}

/* NUL-terminated, cut to cap. */
static bool text_at(const struct cache *c, uint64_t at, char *to, size_t cap) {
    size_t got = 0;
    if (at >= c->end || !c->files->read(c->files->ctx, c->path, at, to, cap - 1, &got))
        return false;
    to[got < cap - 1 ? got : cap - 1] = 0;
    return true;
}

/* As glibc's: runs of digits count as numbers. */
static int compare_names(const char *a, const char *b) {
    while (*a) {
        bool da = *a >= '0' && *a <= '9', db = *b >= '0' && *b <= '9';
        if (da && db) {
            uint64_t x = 0, y = 0;
            a += wc_parse_number(a, wc_str_length(a), &x);
            b += wc_parse_number(b, wc_str_length(b), &y);
            if (x != y)
                return x < y ? -1 : 1;
        } else if (da || db) {
            return da ? 1 : -1;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return *b ? -1 : 0;
}

/* The name of the section entry that a named entry points to, and its place on the world's list;
 * 0: this machine has it not. */
static unsigned priority(const struct cache *c, const struct wc_search_world *w, uint64_t hwcap) {
    unsigned char b[16];
    char name[64];
    if (!c->extension || !read_at(c, c->start + c->extension, b, 8) || u32(b) != EXTENSION_MAGIC)
        return 0;
    uint32_t sections = u32(b + 4);
    for (uint32_t i = 0; i < sections && i < 16; i++) {
        if (!read_at(c, c->start + c->extension + 8 + i * 16ull, b, 16))
            return 0;
        if (u32(b) != HWCAPS_TAG)
            continue;
        uint64_t index = (uint32_t)hwcap, at = u32(b + 8), size = u32(b + 12);
        if (index >= size / 4 || !read_at(c, c->start + at + 4 * index, b, 4) ||
            !text_at(c, c->start + u32(b), name, sizeof name))
            return 0;
        for (unsigned k = 0; w->hwcaps && w->hwcaps[k]; k++)
            if (wc_str_compare(w->hwcaps[k], name) == 0)
                return k + 1;
        return 0;
    }
    return 0;
}

static uint32_t flags_wanted(const struct wc_search_world *w) {
    return w->machine == EM_X86_64 ? 0x0303 : w->machine == EM_AARCH64 ? 0x0a03 : 0x0003;
}

static bool kind_fits(uint32_t flags, const struct wc_search_world *w) {
    return flags == 1 /* ELF, any libc */ || flags == flags_wanted(w);
}

/* One of the entries of that name. */
static bool find_name(const struct cache *c, const char *name, uint32_t *found) {
    char text[NAME_MAX_BYTES];
    uint32_t from = 0, to = c->count;
    struct entry e;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (!entry_at(c, middle, &e) || !text_at(c, c->strings + e.key, text, sizeof text))
            return false;
        int order = compare_names(name, text);
        if (order == 0) {
            *found = middle;
            return true;
        }
        if (order < 0) /* greatest first */
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

static bool has_name(const struct cache *c, uint32_t i, const char *name, struct entry *e) {
    char text[NAME_MAX_BYTES];
    return entry_at(c, i, e) && text_at(c, c->strings + e->key, text, sizeof text) &&
           compare_names(name, text) == 0;
}

static bool old_rules_allow(const struct entry *e, const struct wc_search_world *w) {
    return (e->hwcap & ~w->cache_hwcap) == 0;
}

bool wc_search_cache(const struct wc_search_world *w, const char *name, char *to, size_t cap) {
    struct cache c;
    struct entry e, best = {0};
    uint32_t i;
    unsigned best_priority = 0;
    bool any = false;
    if (wc_str_length(name) >= NAME_MAX_BYTES || !begin(&c, w) || !find_name(&c, name, &i))
        return false;
    while (i > 0 && has_name(&c, i - 1, name, &e))
        i--;
    for (; has_name(&c, i, name, &e); i++) {
        if (!kind_fits(e.flags, w))
            continue;
        bool named = (e.hwcap >> 32) == (NAMED_HWCAP >> 32);
        if (!named && any)
            break;
        if (named) {
            unsigned p = priority(&c, w, e.hwcap);
            if (!p || (any && p >= best_priority))
                continue;
            best_priority = p;
        } else if (!old_rules_allow(&e, w)) {
            continue;
        }
        best = e;
        any = true;
        if (!named && e.flags == flags_wanted(w))
            break;
    }
    return any && text_at(&c, c.strings + best.value, to, cap);
}
