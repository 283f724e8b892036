/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ld.so.cache. The new format ("glibc-ld.so.cache1.1") alone or after the old one ("ld.so-1.7.0");
 * entries in the order of glibc's _dl_cache_libcmp, greatest first. What is read is bounded by the
 * file's own numbers, which are checked against what is there.
 */
#include <elf.h>

#include "search.h"

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"
#define OLD_HEADER 16u
#define OLD_ENTRY 12u
#define NEW_HEADER 48u
#define NEW_ENTRY 24u
#define EXTENSION_MAGIC 0xEAA42174u
#define HWCAPS_TAG 1u /* of a section of the extension */
#define NAMED_HWCAP ((uint64_t)1 << 62)
#define SECTIONS_MOST 16u

struct cache {
    const unsigned char *bytes;
    uint64_t end;     /* of the file */
    uint64_t start;   /* of the new format: what its offsets are relative to */
    uint64_t entries; /* offset of the first */
    uint32_t count, entry_size;
    uint64_t strings;   /* what an entry's offsets are relative to */
    uint32_t extension; /* relative to start, 0: none */
};

/* n bytes at an offset, NULL if they are not all there. */
static const unsigned char *at(const struct cache *c, uint64_t offset, size_t n) {
    return offset <= c->end && n <= c->end - offset ? c->bytes + offset : NULL;
}

/* A text that ends in the file; NULL: there is none. */
static const char *text_at(const struct cache *c, uint64_t offset) {
    for (uint64_t i = offset; i < c->end; i++)
        if (!c->bytes[i])
            return (const char *)c->bytes + offset;
    return NULL;
}

static uint32_t u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool begin_new(struct cache *c, uint64_t offset) {
    const unsigned char *h = at(c, offset, NEW_HEADER);
    if (!h || wc_mem_compare(h, NEW_MAGIC, 20) != 0 ||
        u32(h + 20) > (c->end - offset - NEW_HEADER) / NEW_ENTRY)
        return false;
    c->start = c->strings = offset;
    c->count = u32(h + 20);
    c->entries = offset + NEW_HEADER;
    c->entry_size = NEW_ENTRY;
    c->extension = u32(h + 32);
    return true;
}

static bool begin(struct cache *c) {
    const unsigned char *h;
    if (begin_new(c, 0))
        return true;
    h = at(c, 0, OLD_HEADER);
    if (!h || wc_mem_compare(h, OLD_MAGIC, 11) != 0)
        return false;
    uint64_t behind = OLD_HEADER + (uint64_t)u32(h + 12) * OLD_ENTRY;
    if (begin_new(c, (behind + 7) & ~(uint64_t)7))
        return true;
    c->entries = OLD_HEADER;
    c->entry_size = OLD_ENTRY;
    c->count = u32(h + 12);
    c->strings = behind;
    return behind <= c->end;
}

struct entry {
    uint32_t flags, value;
    uint64_t hwcap;
};

/* The name of the i-th entry; NULL: there is none. */
static const char *entry_at(const struct cache *c, uint32_t i, struct entry *e) {
    const unsigned char *b =
        i < c->count ? at(c, c->entries + (uint64_t)i * c->entry_size, c->entry_size) : NULL;
    if (!b)
        return NULL;
    *e = (struct entry){u32(b), u32(b + 8), 0};
    if (c->entry_size == NEW_ENTRY)
        e->hwcap = u32(b + 16) | (uint64_t)u32(b + 20) << 32;
    return text_at(c, c->strings + u32(b + 4));
}

/* Of the entries, greatest first, as glibc's: runs of digits count as numbers. */
static int order_of(const char *a, const char *b) {
    while (*a) {
        bool da = wc_is_digit(*a), db = wc_is_digit(*b);
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

/* The name that an entry's number means; NULL: there is none. */
static const char *hwcaps_name(const struct cache *c, uint32_t index) {
    const unsigned char *b = c->extension ? at(c, c->start + c->extension, 8) : NULL;
    uint32_t sections = b && u32(b) == EXTENSION_MAGIC ? u32(b + 4) : 0;
    for (uint32_t i = 0; i < sections && i < SECTIONS_MOST; i++) {
        b = at(c, c->start + c->extension + 8 + i * 16ull, 16);
        if (b && u32(b) == HWCAPS_TAG) {
            uint64_t first = c->start + u32(b + 8);
            b = index < u32(b + 12) / 4 ? at(c, first + 4ull * index, 4) : NULL;
            return b ? text_at(c, c->start + u32(b)) : NULL;
        }
    }
    return NULL;
}

/* Its place on the machine's list, from 1; 0: not of this machine. */
static unsigned priority(const struct cache *c, const struct wc_search_context *w, uint64_t hwcap) {
    const char *name = hwcaps_name(c, (uint32_t)hwcap);
    for (unsigned k = 0; name && w->system->hwcaps[k]; k++)
        if (wc_str_compare(w->system->hwcaps[k], name) == 0)
            return k + 1;
    return 0;
}

/* One of the entries of that name. */
static bool find_name(const struct cache *c, const char *name, uint32_t *found) {
    uint32_t from = 0, to = c->count;
    struct entry e;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const char *text = entry_at(c, middle, &e);
        int order = text ? order_of(name, text) : 0;
        if (!text)
            return false;
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
    const char *text = entry_at(c, i, e);
    return text && order_of(name, text) == 0;
}

/* Entries with named capabilities come first; then the first of the others that is allowed. */
const char *wc_search_cache(const struct wc_search_context *w, const char *name) {
    struct cache c = {.bytes = w->cache.p, .end = w->cache.n};
    struct entry e, best = {0};
    uint32_t i, wanted = w->machine == EM_X86_64    ? 0x0303
                         : w->machine == EM_AARCH64 ? 0x0a03
                                                    : 0x0003;
    unsigned best_priority = 0;
    bool any = false;
    for (const char *const *own = w->listed; own && *own; own += 2)
        if (wc_str_same(own[0], name))
            return own[1];
    if (!begin(&c) || !find_name(&c, name, &i))
        return NULL;
    while (i > 0 && has_name(&c, i - 1, name, &e))
        i--;
    for (; has_name(&c, i, name, &e); i++) {
        bool named = (e.hwcap >> 32) == (NAMED_HWCAP >> 32);
        unsigned p = named ? priority(&c, w, e.hwcap) : 0;
        if (e.flags != 1 /* ELF, any libc */ && e.flags != wanted)
            continue;
        if (!named && any)
            break;
        if (named ? p && (!any || p < best_priority) : (e.hwcap & ~w->system->cache_hwcap) == 0) {
            best = e;
            best_priority = p;
            any = true;
        }
    }
    return any ? text_at(&c, c.strings + best.value) : NULL;
}
