/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic section: where the tables are, how large they may be taken to be, and its strings.
 */
#include "elf_inside.h"

#define MOST_ENTRIES 4096 /* of a dynamic section */

/*
 * glibc adds the load bias to some entries in place (elf/get-dynamic-info.h) and leaves the others,
 * and whole dynamic sections that are read-only such as the vdso's. Where a program is low and is
 * large (under valgrind), both readings of an entry can lie in it.
 */
static uint64_t relocated(const struct wc_elf_image *e, uint64_t address) {
    return wc_elf_room(e, address - e->base) ? address - e->base : address;
}

static uint64_t link_time(const struct wc_elf_image *e, uint64_t address) {
    return wc_elf_room(e, address) ? address : relocated(e, address);
}

struct raw {
    uint64_t relacount, relaent, syment, soname, rpath, runpath;
};

#define TAKE(tag, field, value)                                                                    \
    case tag:                                                                                      \
        field = value;                                                                             \
        break

static void take_entry(struct wc_elf_image *e, struct raw *raw, const Elf64_Dyn *d) {
    uint64_t v = d->d_un.d_val;
    switch (d->d_tag) {
        TAKE(DT_SYMTAB, e->symtab, relocated(e, v));
        TAKE(DT_STRTAB, e->strtab, relocated(e, v));
        TAKE(DT_STRSZ, e->strsz, v);
        TAKE(DT_HASH, e->hash, relocated(e, v));
        TAKE(DT_GNU_HASH, e->gnu_hash, relocated(e, v));
        TAKE(DT_VERSYM, e->versym, relocated(e, v));
        TAKE(DT_VERDEF, e->verdef, link_time(e, v));
        TAKE(DT_VERNEED, e->verneed, link_time(e, v));
        TAKE(DT_RELA, e->rela, relocated(e, v));
        TAKE(DT_RELASZ, e->relasz, v);
        TAKE(DT_RELAENT, raw->relaent, v);
        TAKE(DT_RELACOUNT, raw->relacount, v);
        TAKE(DT_SYMENT, raw->syment, v);
        TAKE(DT_JMPREL, e->jmprel, relocated(e, v));
        TAKE(DT_PLTRELSZ, e->pltrelsz, v);
        TAKE(36 /* DT_RELR, absent from older elf.h */, e->relr, link_time(e, v));
        TAKE(DT_PLTGOT, e->pltgot, relocated(e, v));
        TAKE(DT_DEBUG, e->program, true);
        TAKE(DT_INIT, e->init, link_time(e, v));
        TAKE(DT_FINI, e->fini, link_time(e, v));
        TAKE(DT_SONAME, raw->soname, v);
        TAKE(DT_RPATH, raw->rpath, v);
        TAKE(DT_RUNPATH, raw->runpath, v);
        TAKE(DT_FLAGS, e->flags, v);
        TAKE(DT_FLAGS_1, e->flags_1, v);
        TAKE(DT_BIND_NOW, e->bind_now, true);
    }
}

static const void *open_relocs(const struct wc_elf_image *e, uint64_t vaddr, uint64_t size,
                               size_t *count) {
    uint64_t room = vaddr ? wc_elf_room(e, vaddr) : 0;
    *count = (size < room ? size : room) / sizeof(Elf64_Rela);
    return *count ? wc_elf_bytes(e, vaddr) : NULL;
}

static void open_all_relocs(struct wc_elf_image *e, const struct raw *raw) {
    uint64_t size = e->relasz;
    if (raw->relaent && raw->relaent != sizeof(Elf64_Rela))
        return;
    /* Some linkers count the PLT's relocations in DT_RELASZ, too; each is wanted once. */
    if (e->pltrelsz <= size && e->jmprel && e->rela + size == e->jmprel + e->pltrelsz)
        size -= e->pltrelsz;
    e->jump_relocs = open_relocs(e, e->jmprel, e->pltrelsz, &e->jump_reloc_count);
    e->relocs = open_relocs(e, e->rela, size, &e->reloc_count);
    size_t relative = raw->relacount < e->reloc_count ? raw->relacount : e->reloc_count;
    e->reloc_count -= relative;
    if (e->relocs)
        e->relocs = (const unsigned char *)e->relocs + relative * sizeof(Elf64_Rela);
}

static Elf64_Dyn entry_at(const unsigned char *table, size_t i) {
    return WC_LAX_AT(Elf64_Dyn, table + i * sizeof(Elf64_Dyn));
}

enum wc_elf_error wc_elf_read_dynamic(struct wc_elf_image *e, uint64_t vaddr, uint64_t size) {
    struct raw raw = {.soname = UINT64_MAX, .rpath = UINT64_MAX, .runpath = UINT64_MAX};
    Elf64_Dyn d;
    uint64_t room = wc_elf_room(e, vaddr), most = (size < room ? size : room) / sizeof d;
    if (!room)
        return WC_ELF_MALFORMED;
    e->dynamic = vaddr;
    most = most < MOST_ENTRIES ? most : MOST_ENTRIES;
    const unsigned char *table = wc_elf_at(e, vaddr, most * sizeof d);
    for (; table && e->dynamic_entries < most; e->dynamic_entries++) {
        d = entry_at(table, e->dynamic_entries);
        if (d.d_tag == DT_NULL)
            break;
        take_entry(e, &raw, &d);
    }
    if ((e->flags & DF_BIND_NOW) || (e->flags_1 & DF_1_NOW))
        e->bind_now = true;
    room = e->strtab ? wc_elf_room(e, e->strtab) : 0;
    e->strsz = e->strsz < room ? e->strsz : room;
    e->string_table = e->strsz ? wc_elf_at(e, e->strtab, e->strsz) : NULL;
    if (!e->string_table)
        e->strsz = 0;
    /* A string table that ends with a NUL needs no search for one at each string. */
    while (e->strsz && e->string_table[e->strsz - 1])
        e->strsz--;
    e->soname = wc_elf_string(e, raw.soname);
    e->rpath = wc_elf_string(e, raw.rpath);
    e->runpath = wc_elf_string(e, raw.runpath);
    if (raw.syment && raw.syment != sizeof(Elf64_Sym))
        return WC_ELF_MALFORMED;
    wc_elf_count_symbols(e);
    open_all_relocs(e, &raw);
    return WC_ELF_OK;
}

const char *wc_elf_needed(const struct wc_elf_image *e, size_t i) {
    const unsigned char *table = wc_elf_at(e, e->dynamic, e->dynamic_entries * sizeof(Elf64_Dyn));
    for (size_t k = 0; table && k < e->dynamic_entries; k++)
        if (entry_at(table, k).d_tag == DT_NEEDED && i-- == 0)
            return wc_elf_string(e, entry_at(table, k).d_un.d_val);
    return NULL;
}

bool wc_elf_reloc_at(const struct wc_elf_image *e, size_t i, struct wc_elf_reloc *out) {
    const unsigned char *table = e->jump_relocs;
    out->jump_slot_table = i < e->jump_reloc_count;
    if (!out->jump_slot_table) {
        table = e->relocs;
        i -= e->jump_reloc_count;
        if (i >= e->reloc_count)
            return false;
    }
    if (!wc_elf_fetched(e, table + i * sizeof(Elf64_Rela), sizeof(Elf64_Rela)))
        return false;
    const Elf64_Rela r = WC_LAX_AT(Elf64_Rela, table + i * sizeof r);
    out->slot = r.r_offset;
    out->type = (uint32_t)ELF64_R_TYPE(r.r_info);
    out->symbol = (uint32_t)ELF64_R_SYM(r.r_info);
    out->addend = r.r_addend;
    return true;
}
