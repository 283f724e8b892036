/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

#include "auxv.h"
#include "next.h"

HIDDEN uintptr_t shim_next[ENTRIES];
HIDDEN const void *volatile shim_relocated = (const void *)&shim_relocated;

/* ---- the list ---- */

static const struct link_map *last;

const struct link_map *start_end(void) {
    return __atomic_load_n(&last, __ATOMIC_ACQUIRE);
}

void start_note(const struct link_map *m) {
    __atomic_store_n(&last, m, __ATOMIC_RELEASE);
}

/* Compares the address with load address and dynamic section: no memory of the object is read. */
bool start_has(uintptr_t address) {
    for (const struct link_map *m = start_list(); m; m = m->l_next) {
        bool placed = m->l_addr || m == start_list(); /* a program may be linked for its place */
        if (placed && address - m->l_addr < (uintptr_t)m->l_ld - m->l_addr)
            return true;
        if (m == last)
            return false;
    }
    return false;
}

/* ---- the next definitions ---- */

static uintptr_t between(uintptr_t a, uintptr_t b) {
    return a < b ? b - a : a - b;
}

/* The address of a dynamic table. The loader has relocated these entries in place, except in
 * read-only dynamic sections: of both readings the one nearer to the section is right. */
static const void *dynamic_table(const struct link_map *m, int64_t tag) {
    const ElfW(Dyn) *d = m->l_ld;
    while (d->d_tag != tag && d->d_tag != DT_NULL)
        d++;
    if (d->d_tag == DT_NULL)
        return NULL;
    uintptr_t at = d->d_un.d_ptr, moved = at + m->l_addr, here = (uintptr_t)m->l_ld;
    return (const void *)(between(at, here) <= between(moved, here) ? at : moved);
}

static bool is_same_name(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* The functions below search the hash tables as the loader does. They repeat
 * core/elf/elf_symbols.c, which does not run asleep. */
static uintptr_t defined_as(const struct link_map *m, uint32_t symbol, const char *name,
                            unsigned type) {
    const ElfW(Sym) *s = (const ElfW(Sym) *)dynamic_table(m, DT_SYMTAB) + symbol;
    bool defined = s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == type;
    return defined && is_same_name(name, (const char *)dynamic_table(m, DT_STRTAB) + s->st_name)
               ? m->l_addr + s->st_value
               : 0;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t h = 5381;
    for (const char *c = name; *c; c++)
        h = h * 33 + (unsigned char)*c;
    return h;
}

/* A call for each object of a program would cost more than what it does. */
static inline __attribute__((always_inline)) uintptr_t find_by_gnu_hash(const struct link_map *m,
                                                                        const uint32_t *hash,
                                                                        const char *name,
                                                                        uint32_t h, unsigned type) {
    uint32_t count = hash[0], first = hash[1], words = hash[2];
    const uint64_t *filter = (const uint64_t *)(hash + 4);
    const uint32_t *buckets = (const uint32_t *)(filter + words), *chains = buckets + count;
    uint64_t word = filter[h / 64 & (words - 1)];
    uintptr_t found = 0;
    bool there = count && word >> h % 64 & word >> (h >> hash[3]) % 64 & 1;
    uint32_t i = there ? buckets[h % count] : 0;
    for (bool more = i >= first && i > 0; more && !found; i++) {
        uint32_t its = chains[i - first];
        if ((its | 1) == (h | 1))
            found = defined_as(m, i, name, type);
        more = !(its & 1);
    }
    return found;
}

static uintptr_t find_by_hash(const struct link_map *m, const uint32_t *hash, const char *name,
                              unsigned type) {
    uint32_t h = 0, count = hash[0];
    uintptr_t found = 0;
    for (const char *c = name; *c; c++) {
        h = (h << 4) + (unsigned char)*c;
        h ^= h >> 24 & 0xf0;
        h &= 0xfffffff;
    }
    for (uint32_t i = count ? hash[2 + h % count] : 0; i && !found; i = hash[2 + count + i])
        found = defined_as(m, i, name, type);
    return found;
}

uintptr_t next_in_list(const struct link_map *m, bool behind_us, const char *name, unsigned type,
                       bool (*fits)(const struct link_map *m)) {
    uint32_t h = gnu_hash(name);
    uintptr_t found = 0;
    for (; m && !found; m = m->l_next) {
        const uint32_t *hash;
        bool wanted = behind_us && (!fits || fits(m));
        if (wanted && (hash = dynamic_table(m, DT_GNU_HASH)))
            found = find_by_gnu_hash(m, hash, name, h, type);
        else if (wanted && (hash = dynamic_table(m, DT_HASH)))
            found = find_by_hash(m, hash, name, type);
        behind_us = behind_us || m->l_ld == own_dynamic;
    }
    return found;
}

/*
 * The first object on the loader's list, found before we are relocated, when no import and no
 * pointer in our data works. The auxiliary vector has the program's headers, whose DT_DEBUG leads
 * to the list. If the loader was started with the program as an argument, the headers are the
 * loader's, which defines _r_debug. Start-up objects come first and are never unloaded, so up to
 * the C library the list can be read without a lock.
 */
static const struct link_map *first_link_map(void) {
    const ElfW(Phdr) *phdr = (const void *)auxv_value(AT_PHDR);
    const size_t n = phdr ? auxv_value(AT_PHNUM) : 0;
    const struct r_debug *list = NULL;
    /* A program with an interpreter has PT_PHDR; the loader, which has none, begins its page. */
    struct link_map of = {.l_addr = (uintptr_t)phdr & ~(uintptr_t)4095};
    for (size_t i = 0; i < n; i++)
        if (phdr[i].p_type == PT_PHDR)
            of.l_addr = (uintptr_t)phdr - phdr[i].p_vaddr;
    for (size_t i = 0; i < n; i++)
        if (phdr[i].p_type == PT_DYNAMIC)
            of.l_ld = (void *)(of.l_addr + phdr[i].p_vaddr);
    for (const ElfW(Dyn) *d = of.l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_DEBUG)
            list = (const void *)d->d_un.d_ptr;
    if (of.l_ld && !list)
        list = (const void *)next_in_list(&of, true, "_r_debug", STT_OBJECT, NULL);
    return list ? list->r_map : NULL;
}

struct entry_answer shim_hook_unrelocated(unsigned entry, const uintptr_t *arguments,
                                          uintptr_t return_address) {
    (void)arguments, (void)return_address;
    return (struct entry_answer){
        next_in_list(first_link_map(), false, entry_names[entry], STT_FUNC, NULL), 0};
}

bool next_are_we_relocated(void) {
    return shim_relocated == (const void *)&shim_relocated;
}

uintptr_t next_definition(unsigned entry) {
    if (!next_are_we_relocated() || !start_list())
        return shim_hook_unrelocated(entry, NULL, 0).jump;
    uintptr_t next = __atomic_load_n(&shim_next[entry], __ATOMIC_RELAXED);
    if (!next) {
        next = next_in_list(start_list(), false, entry_names[entry], STT_FUNC, NULL);
        __atomic_store_n(&shim_next[entry], next, __ATOMIC_RELAXED);
    }
    return next;
}

const void *next_in_place_of(const void *address) {
    const struct link_map *m = start_list();
    while (m && m->l_ld != own_dynamic)
        m = m->l_next;
    const uint32_t *hash = m ? dynamic_table(m, DT_GNU_HASH) : NULL;
    for (unsigned e = 0; hash && e < ENTRIES; e++)
        if (find_by_gnu_hash(m, hash, entry_names[e], gnu_hash(entry_names[e]), STT_FUNC) ==
            (uintptr_t)address)
            return (const void *)next_definition(e) ?: address;
    return address;
}
