/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small ELF object written by hand, byte for byte, so that each field can be set wrong.
 * Layout: headers, notes, .dynsym, .gnu.version, tables, .dynstr, data (all in a read-only
 * segment), then .dynamic in a writable one, mapped one page further up than in the file.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_ELF_H
#define WHICHCUDNN_TESTS_SUPPORT_ELF_H

#include <assert.h>
#include <elf.h>
#include <string.h>

enum { ELF_ROOM = 16384, ELF_SHIFT = 0x1000 };

struct elf_maker {
    _Alignas(16) unsigned char bytes[ELF_ROOM];
    size_t n;
    char strings[4096];
    size_t string_bytes;
    Elf64_Sym symbol[64];
    Elf64_Half version[64];
    size_t symbols, first_defined;
    Elf64_Dyn dynamic[64];
    size_t dynamics;
    uint64_t gap; /* between the address and the offset of the second segment */
};

static inline size_t elf_put(struct elf_maker *m, const void *p, size_t n, size_t align) {
    m->n = (m->n + align - 1) / align * align;
    assert(m->n + n <= sizeof m->bytes);
    memcpy(m->bytes + m->n, p, n);
    m->n += n;
    return m->n - n;
}

static inline uint32_t elf_string(struct elf_maker *m, const char *s) {
    size_t n = strlen(s) + 1;
    assert(m->string_bytes + n <= sizeof m->strings);
    memcpy(m->strings + m->string_bytes, s, n);
    m->string_bytes += n;
    return (uint32_t)(m->string_bytes - n);
}

static inline void elf_dynamic(struct elf_maker *m, int64_t tag, uint64_t value) {
    m->dynamic[m->dynamics].d_tag = tag;
    m->dynamic[m->dynamics++].d_un.d_val = value;
}

static inline void elf_begin(struct elf_maker *m) {
    memset(m, 0, sizeof *m);
    m->n = sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Phdr);
    m->string_bytes = 1;
    m->symbols = 1;
    m->gap = ELF_SHIFT;
}

/* Imports first, then definitions. version: index of a symbol version, 0x8000 added: hidden. */
static inline size_t elf_symbol(struct elf_maker *m, const char *name, unsigned info, int defined,
                                uint64_t value, uint64_t size, unsigned version) {
    Elf64_Sym *s = &m->symbol[m->symbols];
    if (defined && !m->first_defined)
        m->first_defined = m->symbols;
    s->st_name = elf_string(m, name);
    s->st_info = (unsigned char)info;
    s->st_shndx = defined ? 7 : SHN_UNDEF;
    s->st_value = value;
    s->st_size = size;
    m->version[m->symbols] = (Elf64_Half)version;
    return m->symbols++;
}

static inline uint32_t elf_gnu_hash_of(const char *s) {
    uint32_t h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h;
}

/* One bucket, so that any order of symbols is a right one; every bit of the filter is set. */
static inline void elf_gnu_hash(struct elf_maker *m, uint32_t first) {
    uint32_t table[6 + 1 + 64] = {1, first, 1, 0, ~0u, ~0u, 0};
    size_t n = 7;
    if (m->first_defined) {
        table[6] = first;
        for (size_t i = first; i < m->symbols; i++)
            table[n++] =
                (elf_gnu_hash_of(m->strings + m->symbol[i].st_name) & ~1u) | (i + 1 == m->symbols);
    }
    elf_dynamic(m, DT_GNU_HASH, elf_put(m, table, n * 4, 8));
}

/* DT_HASH with one bucket whose chain runs through all symbols. */
static inline void elf_hash(struct elf_maker *m) {
    uint32_t table[3 + 64] = {1, (uint32_t)m->symbols, 1};
    for (size_t i = 1; i < m->symbols; i++)
        table[3 + i] = i + 1 < m->symbols ? (uint32_t)i + 1 : 0;
    elf_dynamic(m, DT_HASH, elf_put(m, table, (3 + m->symbols) * 4, 8));
}

static inline void elf_symbol_table(struct elf_maker *m) {
    elf_dynamic(m, DT_SYMTAB, elf_put(m, m->symbol, m->symbols * sizeof *m->symbol, 8));
    elf_dynamic(m, DT_VERSYM, elf_put(m, m->version, m->symbols * 2, 2));
}

static inline void elf_phdr(struct elf_maker *m, int i, uint32_t type, uint32_t flags,
                            uint64_t offset, uint64_t vaddr, uint64_t size) {
    Elf64_Phdr p = {.p_type = type,
                    .p_flags = flags,
                    .p_offset = offset,
                    .p_vaddr = vaddr,
                    .p_filesz = size,
                    .p_memsz = size,
                    .p_align = type == PT_NOTE ? 4 : 0x1000};
    memcpy(m->bytes + sizeof(Elf64_Ehdr) + (size_t)i * sizeof p, &p, sizeof p);
}

/* The string table, the dynamic section, then the headers: no elf_* call may follow. */
static inline void elf_end(struct elf_maker *m, size_t note, size_t note_size) {
    elf_dynamic(m, DT_STRTAB, elf_put(m, m->strings, m->string_bytes, 1));
    elf_dynamic(m, DT_STRSZ, m->string_bytes);
    elf_dynamic(m, DT_NULL, 0);
    size_t data = elf_put(m, m->dynamic, m->dynamics * sizeof *m->dynamic, 16);
    size_t size = m->n - data;
    Elf64_Ehdr h = {.e_type = ET_DYN,
                    .e_machine = EM_X86_64,
                    .e_version = EV_CURRENT,
                    .e_phoff = sizeof h,
                    .e_ehsize = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 5};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = EV_CURRENT;
    memcpy(m->bytes, &h, sizeof h);
    elf_phdr(m, 0, PT_LOAD, PF_R | PF_X, 0, 0, data);
    elf_phdr(m, 1, PT_LOAD, PF_R | PF_W, data, data + m->gap, size);
    elf_phdr(m, 2, PT_DYNAMIC, PF_R | PF_W, data, data + m->gap, size);
    elf_phdr(m, 3, PT_NOTE, PF_R, note, note, note_size);
    elf_phdr(m, 4, PT_GNU_RELRO, PF_R, data, data + m->gap, size);
}

#endif
