/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounds-checked view of one ELF object, either as the loader mapped it or as it is in a file.
 * Nothing is trusted: every access is checked against the mapped segments (memory) or the bytes
 * given (file). 64-bit little-endian objects only; others are refused with a reason.
 */
#pragma once

#include <elf.h>

#include "core/base/base.h"

#define WC_ELF_SEGMENTS 16

enum wc_elf_error {
    WC_ELF_OK,
    WC_ELF_EMPTY,       /* zero bytes */
    WC_ELF_NOT_ELF,     /* other magic: text, an LFS pointer, ... */
    WC_ELF_TRUNCATED,   /* headers or segments reach beyond the end */
    WC_ELF_WRONG_CLASS, /* not 64 bit */
    WC_ELF_WRONG_BYTE_ORDER,
    WC_ELF_NO_DYNAMIC,
    WC_ELF_MALFORMED
};

/* Makes n bytes of a file from offset on readable. False: they cannot be read, and count as outside
 * of the image from then on. Bytes that are readable do not change. */
typedef bool wc_elf_fetch(void *owner, uint64_t offset, uint64_t n);

/* Cleared and filled by wc_elf_from_*; const from then on, free to be copied. */
struct wc_elf_image {
    uint64_t base;             /* load bias; 0 for a file */
    const unsigned char *file; /* the bytes of a file, or those that fetch makes readable */
    size_t file_size;
    wc_elf_fetch *fetch; /* makes bytes readable; NULL: all are */
    void *fetch_owner;
    size_t loads;                           /* segments in load[], at the end of this struct */
    uint64_t relro_vaddr, relro_size;       /* PT_GNU_RELRO; size 0: none */
    uint64_t interpreter, interpreter_size; /* PT_INTERP; size 0: none */
    unsigned char build_id[32];
    size_t build_id_size; /* 0: none found */

    /* From PT_DYNAMIC; addresses are link-time (without base); 0: absent. */
    uint64_t dynamic, symtab, strtab, strsz, hash, gnu_hash, versym, verdef, verneed;
    uint64_t rela, relasz, jmprel, pltrelsz, relr, pltgot;
    uint64_t init, fini, flags, flags_1;
    const char *soname, *rpath, *runpath; /* NULL: none */
    bool bind_now;
    bool program;           /* has DT_DEBUG: an executable */
    uint32_t symbols;       /* number of .dynsym entries */
    uint32_t first_defined; /* entries below it are imports; 0: no DT_GNU_HASH. Others may be, too:
                               wc_elf_imports_end */
    uint16_t machine;       /* file view; 0 in memory unless the header is mapped */

    /* Tables, each cut to the part that is inside one segment; NULL or 0: absent. */
    const void *symbol_table;
    const char *string_table;         /* strsz bytes, the last of them NUL */
    const void *jump_relocs, *relocs; /* relocs: after the DT_RELACOUNT relative ones */
    size_t jump_reloc_count, reloc_count;
    size_t dynamic_entries; /* before DT_NULL */

    struct wc_elf_segment {
        uint64_t vaddr, memsz, offset, filesz;
        const unsigned char *at; /* the byte of vaddr */
        uint64_t readable;       /* bytes there: memsz in memory, filesz in a file */
        uint32_t flags;
    } load[WC_ELF_SEGMENTS]; /* further segments are ignored */
};

/*
 * Memory: base and program headers as dl_iterate_phdr gives them. Every range is checked against
 * PT_LOAD; only segments that are readable count. The dynamic section's addresses may be relocated
 * in place (glibc) or not (vdso): both are understood.
 */
enum wc_elf_error wc_elf_from_memory(struct wc_elf_image *e, uint64_t base, const Elf64_Phdr *phdr,
                                     size_t phnum);
/* Memory of another process, which fetch reads on demand into `bytes`: room for n bytes, the first
 * for the link-time address `low`. */
enum wc_elf_error wc_elf_from_elsewhere(struct wc_elf_image *e, uint64_t base,
                                        const Elf64_Phdr *phdr, size_t phnum, const void *bytes,
                                        uint64_t low, size_t n, wc_elf_fetch *fetch, void *owner);
/* A file of n bytes, which fetch reads on demand into `bytes`; fetch NULL: all bytes are there. The
 * image keeps pointing into `bytes`. */
enum wc_elf_error wc_elf_from_pieces(struct wc_elf_image *e, const void *bytes, size_t n,
                                     wc_elf_fetch *fetch, void *owner);

/* The rest of a PT_NOTE segment: n readable bytes. */
struct wc_elf_notes {
    const unsigned char *at;
    uint64_t n, align; /* align: of the segment, to which names and descriptors are padded */
};
/* The descriptor of the next note of that owner and type, *size readable bytes. NULL: there is
 * none, or the notes from rest->at on are damaged. */
const unsigned char *wc_elf_next_note(struct wc_elf_notes *rest, const char owner[4], uint32_t type,
                                      size_t *size);

/* n readable bytes at a link-time address, NULL if any of them is outside. */
const void *wc_elf_at(const struct wc_elf_image *e, uint64_t vaddr, size_t n);
/* A NUL-terminated string of .dynstr that ends inside it, else NULL. */
const char *wc_elf_string(const struct wc_elf_image *e, uint64_t offset);
/* i-th DT_NEEDED name, NULL past the last. */
const char *wc_elf_needed(const struct wc_elf_image *e, size_t i);

struct wc_elf_symbol {
    const char *name;
    const char *version; /* symbol version, NULL: none (import: demanded; definition: defined) */
    const char *version_file; /* imports: the file of the verneed entry; else NULL */
    uint64_t value, size;     /* value: link-time address */
    unsigned type;
    bool defined, weak;
};
/* False: index out of range or damaged entry. */
bool wc_elf_symbol_at(const struct wc_elf_image *e, uint32_t index, struct wc_elf_symbol *out);
/* All imports have indices below this one; definitions may, too, if it is past first_defined.
 * DT_GNU_HASH puts definitions last, but bfd puts among them imports of a program whose address is
 * taken. */
uint32_t wc_elf_imports_end(const struct wc_elf_image *e);
/* Only the name, which is cheap. NULL: damaged. */
const char *wc_elf_symbol_name(const struct wc_elf_image *e, uint32_t index);
/* A defined symbol by name, through DT_GNU_HASH or by a walk. Default versions win. */
bool wc_elf_find_defined(const struct wc_elf_image *e, const char *name, struct wc_elf_symbol *out);
bool wc_elf_defines(const struct wc_elf_image *e, const char *name);
/* The first symbol version it defines that is not the base entry; else the base entry's name
 * (SONAME); NULL: none. */
const char *wc_elf_defined_symbol_version(const struct wc_elf_image *e);

/* The file of which the i-th entry of DT_VERNEED demands symbol versions; NULL past the last. */
const char *wc_elf_version_file(const struct wc_elf_image *e, size_t i);
/* The first version of the i-th entry that the library does not define, so that the loader refuses
 * e; NULL: none. The loader accepts a library that defines no version at all. */
const char *wc_elf_version_lacking(const struct wc_elf_image *e, size_t i,
                                   const struct wc_elf_image *library);

/* DT_JMPREL first, then DT_RELA without its leading relative ones. symbol is 0 where a relocation
 * names none. False: past the last. */
struct wc_elf_reloc {
    uint64_t slot; /* link-time address */
    uint32_t type, symbol;
    int64_t addend;
    bool jump_slot_table;
};
bool wc_elf_reloc_at(const struct wc_elf_image *e, size_t i, struct wc_elf_reloc *out);

/* Searches segments that are not writable for n bytes: at most `limit` bytes from address *at on (0
 * at first). Returns the address found and puts *at after its first byte; 0: not found. */
uint64_t wc_elf_find_bytes(const struct wc_elf_image *e, const char *bytes, size_t n, uint64_t *at,
                           size_t limit);
