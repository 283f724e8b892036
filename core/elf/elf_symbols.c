/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols and their versions: how many there are, and finding one. DT_HASH only counts them: what
 * has no DT_GNU_HASH is old and small, and is searched from its first symbol on.
 */
#include "elf_inside.h"

#define LOCAL_OR_GLOBAL 1 /* version indices 0 and 1 name no version */
#define HIDDEN 0x8000u
/* More than any library has. They bound the work on a damaged one, which is their product. */
enum { FILES_MOST = 64, WANTED_MOST = 256, DEFINED_MOST = 1024, LONGEST_CHAIN = 4096 };

static const char *verdef_name(const struct wc_elf_image *e, uint64_t at, const Elf64_Verdef *d) {
    const void *aux = wc_elf_at(e, at + d->vd_aux, sizeof(Elf64_Verdaux));
    return aux && d->vd_cnt ? wc_elf_string(e, WC_LAX_AT(Elf64_Verdaux, aux).vda_name) : NULL;
}

/* Reads the next entry of a table in which each says how far it is to the next one, 0 the last. *at
 * is the address of the one read, 0 before the first. */
static bool next_entry(const struct wc_elf_image *e, uint64_t first, uint32_t step, uint64_t *at,
                       void *out, size_t size) {
    if (*at && !step)
        return false;
    *at = *at ? *at + step : first;
    const void *p = *at ? wc_elf_at(e, *at, size) : NULL;
    if (p)
        wc_mem_copy(out, p, size);
    return p != NULL;
}

static bool next_verdef(const struct wc_elf_image *e, uint64_t *at, Elf64_Verdef *d) {
    return next_entry(e, e->verdef, *at ? d->vd_next : 0, at, d, sizeof *d);
}

static const char *defined_version(const struct wc_elf_image *e, unsigned index) {
    uint64_t at = 0;
    Elf64_Verdef d;
    for (int i = 0; i < LONGEST_CHAIN && next_verdef(e, &at, &d); i++)
        if ((d.vd_ndx & ~HIDDEN) == index)
            return verdef_name(e, at, &d);
    return NULL;
}

const char *wc_elf_defined_symbol_version(const struct wc_elf_image *e) {
    const char *base = NULL;
    uint64_t at = 0;
    Elf64_Verdef d;
    for (int i = 0; i < LONGEST_CHAIN && next_verdef(e, &at, &d); i++) {
        if (!(d.vd_flags & VER_FLG_BASE))
            return verdef_name(e, at, &d);
        if (!base)
            base = verdef_name(e, at, &d);
    }
    return base;
}

/* DT_VERNEED is a list of files with a list of versions each, which begins at `first`. */
static bool next_verneed(const struct wc_elf_image *e, uint64_t *at, Elf64_Verneed *need) {
    return next_entry(e, e->verneed, *at ? need->vn_next : 0, at, need, sizeof *need);
}

static bool next_vernaux(const struct wc_elf_image *e, uint64_t first, uint64_t *at,
                         Elf64_Vernaux *aux) {
    return next_entry(e, first, *at ? aux->vna_next : 0, at, aux, sizeof *aux);
}

/* The demanded version of an import. */
static void find_needed_version(const struct wc_elf_image *e, unsigned index,
                                struct wc_elf_symbol *out) {
    Elf64_Verneed need;
    Elf64_Vernaux aux;
    int steps = 0;
    for (uint64_t at = 0; steps++ < LONGEST_CHAIN && next_verneed(e, &at, &need);)
        for (uint64_t in = 0;
             steps++ < LONGEST_CHAIN && next_vernaux(e, at + need.vn_aux, &in, &aux);)
            if ((aux.vna_other & ~HIDDEN) == index) {
                out->version = wc_elf_string(e, aux.vna_name);
                out->version_file = out->version ? wc_elf_string(e, need.vn_file) : NULL;
                return;
            }
}

/* The i-th entry of DT_VERNEED; 0: past the last, or damaged. */
static uint64_t verneed_at(const struct wc_elf_image *e, size_t i, Elf64_Verneed *need) {
    uint64_t at = 0;
    for (size_t k = 0; k < FILES_MOST && next_verneed(e, &at, need); k++)
        if (k == i)
            return at;
    return 0;
}

const char *wc_elf_version_file(const struct wc_elf_image *e, size_t i) {
    Elf64_Verneed need;
    return verneed_at(e, i, &need) ? wc_elf_string(e, need.vn_file) : NULL;
}

static bool defines_version(const struct wc_elf_image *e, const char *version) {
    uint64_t at = 0;
    Elf64_Verdef d;
    d.vd_next = 0;
    for (int i = 0; i < DEFINED_MOST && next_verdef(e, &at, &d); i++)
        if (wc_str_same(verdef_name(e, at, &d), version))
            return true;
    return at && d.vd_next; /* it has more versions than DEFINED_MOST: not known, so not missing */
}

const char *wc_elf_version_lacking(const struct wc_elf_image *e, size_t i,
                                   const struct wc_elf_image *library) {
    Elf64_Verneed need;
    Elf64_Vernaux aux;
    uint64_t in = 0, at = library->verdef ? verneed_at(e, i, &need) : 0;
    for (int k = 0; at && k < WANTED_MOST && next_vernaux(e, at + need.vn_aux, &in, &aux); k++) {
        const char *version = wc_elf_string(e, aux.vna_name);
        if (version && !(aux.vna_flags & VER_FLG_WEAK) && !defines_version(library, version))
            return version;
    }
    return NULL;
}

uint32_t wc_elf_imports_end(const struct wc_elf_image *e) {
    return e->first_defined && !e->program ? e->first_defined : e->symbols;
}

static Elf64_Sym read_symbol(const struct wc_elf_image *e, uint32_t index) {
    return WC_LAX_AT(Elf64_Sym, (const unsigned char *)e->symbol_table + index * sizeof(Elf64_Sym));
}

const char *wc_elf_symbol_name(const struct wc_elf_image *e, uint32_t index) {
    return index < e->symbols ? wc_elf_string(e, read_symbol(e, index).st_name) : NULL;
}

static uint16_t version_index(const struct wc_elf_image *e, uint32_t index) {
    const void *p = e->versym ? wc_elf_at(e, e->versym + 2ull * index, 2) : NULL;
    return p ? WC_LAX_AT(uint16_t, p) : LOCAL_OR_GLOBAL;
}

bool wc_elf_symbol_at(const struct wc_elf_image *e, uint32_t index, struct wc_elf_symbol *out) {
    const char *name = wc_elf_symbol_name(e, index);
    if (!name)
        return false;
    const Elf64_Sym s = read_symbol(e, index);
    const unsigned version = version_index(e, index) & ~HIDDEN;
    out->name = name;
    out->version = out->version_file = NULL;
    out->value = s.st_value;
    out->size = s.st_size;
    out->type = ELF64_ST_TYPE(s.st_info);
    out->weak = ELF64_ST_BIND(s.st_info) == STB_WEAK;
    out->defined = s.st_shndx != SHN_UNDEF;
    if (version > LOCAL_OR_GLOBAL && out->defined)
        out->version = defined_version(e, version);
    /* A program's copy of a library's variable is defined under the version it demands. */
    if (version > LOCAL_OR_GLOBAL && !out->version)
        find_needed_version(e, version, out);
    return true;
}

/* ---- DT_GNU_HASH ---- */

struct hash {
    const unsigned char *bloom, *buckets, *chains;
    uint64_t chain_entries; /* chain entries that are readable */
    uint32_t bucket_count, first, bloom_count, bloom_shift;
};

/* Is there an i-th chain entry? DT_GNU_HASH does not say how many it has. */
static bool has_chain(const struct wc_elf_image *e, const struct hash *h, uint64_t i) {
    return i < h->chain_entries && wc_elf_fetched(e, h->chains + 4 * i, 4);
}

static bool open_gnu_hash(const struct wc_elf_image *e, struct hash *h) {
    uint64_t room = e->gnu_hash ? wc_elf_room(e, e->gnu_hash) : 0;
    const unsigned char *p = room < 16 ? NULL : wc_elf_at(e, e->gnu_hash, 16);
    if (!p)
        return false;
    h->bucket_count = WC_LAX_AT(uint32_t, p);
    h->first = WC_LAX_AT(uint32_t, p + 4);
    h->bloom_count = WC_LAX_AT(uint32_t, p + 8);
    h->bloom_shift = WC_LAX_AT(uint32_t, p + 12);
    uint64_t before_chains = 16 + 8ull * h->bloom_count + 4ull * h->bucket_count;
    if (!h->bucket_count || !h->bloom_count || before_chains > room ||
        !wc_elf_fetched(e, p, before_chains))
        return false;
    h->bloom = p + 16;
    h->buckets = h->bloom + 8ull * h->bloom_count;
    h->chains = p + before_chains;
    h->chain_entries = (room - before_chains) / 4;
    return true;
}

/*
 * The symbols are sorted by bucket, so the last bucket in use holds the last of them and its chain
 * ends with the table. 0: no bucket in use.
 */
static uint32_t gnu_symbol_count(const struct wc_elf_image *e, const struct hash *h) {
    uint32_t bucket = h->bucket_count, start = 0;
    while (bucket && !start)
        start = WC_LAX_AT(uint32_t, h->buckets + 4ull * --bucket);
    if (start < h->first || !start)
        return 0;
    for (uint64_t i = start - h->first; has_chain(e, h, i); i++)
        if (WC_LAX_AT(uint32_t, h->chains + 4 * i) & 1)
            return (uint32_t)(h->first + i + 1);
    return 0;
}

void wc_elf_count_symbols(struct wc_elf_image *e) {
    const uint64_t others[] = {e->strtab, e->hash,   e->gnu_hash, e->versym, e->verdef, e->verneed,
                               e->rela,   e->jmprel, e->relr,     e->pltgot, e->init,   e->dynamic};
    struct hash h;
    uint64_t room = e->symtab ? wc_elf_room(e, e->symtab) : 0;
    WC_EACH_ROW(other, others) /* .dynsym ends where the next table begins, or before */
        if (*other > e->symtab && *other - e->symtab < room)
            room = *other - e->symtab;
    uint64_t most = room / sizeof(Elf64_Sym), count = most;
    bool gnu = open_gnu_hash(e, &h);
    const unsigned char *sysv = e->hash ? wc_elf_at(e, e->hash, 8) : NULL;
    uint32_t first = gnu ? h.first : 0;
    if (gnu) {
        /* With nothing to find, gold, lld and mold give the table's end as the first symbol, ld.bfd
         * gives 1: the table's room decides then. */
        count = gnu_symbol_count(e, &h);
        if (!count)
            first = (uint32_t)(count = first > 1 ? first : most);
    } else if (sysv) {
        count = WC_LAX_AT(uint32_t, sysv + 4); /* as many as chain entries */
    }
    if (count > most)
        count = most;
    e->symbols = (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX);
    e->symbol_table =
        e->symbols ? wc_elf_at(e, e->symtab, (uint64_t)e->symbols * sizeof(Elf64_Sym)) : NULL;
    if (!e->symbol_table)
        e->symbols = 0;
    e->first_defined = first < e->symbols ? first : gnu ? e->symbols : 0;
}

/* Is symbol `index` a definition of name? With several versions the default one ends the search;
 * another is kept in *found until then. True: the search is over. */
static bool consider_symbol(const struct wc_elf_image *e, uint32_t index, const char *name,
                            uint32_t *found) {
    const char *its = wc_elf_symbol_name(e, index);
    if (!its || wc_str_compare(its, name) != 0)
        return false;
    const Elf64_Sym s = read_symbol(e, index);
    if (s.st_shndx == SHN_UNDEF || ELF64_ST_BIND(s.st_info) == STB_LOCAL)
        return false;
    bool by_default = !(version_index(e, index) & HIDDEN);
    if (by_default || !*found)
        *found = index;
    return by_default;
}

static uint32_t find_by_gnu_hash(const struct wc_elf_image *e, const struct hash *h,
                                 const char *name) {
    uint32_t found = 0, hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint64_t word = WC_LAX_AT(uint64_t, h->bloom + 8ull * ((hash / 64) % h->bloom_count));
    if (!(word >> (hash % 64) & word >> ((hash >> (h->bloom_shift & 31)) % 64) & 1))
        return 0;
    uint32_t start = WC_LAX_AT(uint32_t, h->buckets + 4ull * (hash % h->bucket_count));
    if (start < h->first || !start)
        return 0;
    for (uint64_t i = start - h->first; has_chain(e, h, i); i++) {
        uint32_t its = WC_LAX_AT(uint32_t, h->chains + 4 * i);
        if ((its | 1) == (hash | 1) && consider_symbol(e, (uint32_t)(h->first + i), name, &found))
            break;
        if (its & 1)
            break;
    }
    return found;
}

static uint32_t find_defined(const struct wc_elf_image *e, const char *name) {
    struct hash h;
    uint32_t found = 0;
    if (open_gnu_hash(e, &h))
        return find_by_gnu_hash(e, &h, name);
    for (uint32_t i = 1; i < e->symbols && !consider_symbol(e, i, name, &found);)
        i++;
    return found;
}

bool wc_elf_find_defined(const struct wc_elf_image *e, const char *name,
                         struct wc_elf_symbol *out) {
    uint32_t found = find_defined(e, name);
    return found && wc_elf_symbol_at(e, found, out);
}

bool wc_elf_defines(const struct wc_elf_image *e, const char *name) {
    return find_defined(e, name) != 0;
}
