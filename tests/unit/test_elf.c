/* SPDX-License-Identifier: Apache-2.0 */
/* core/elf_*.c: made objects with known contents, damaged ones, and those of this very process. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/elf/elf_inside.h"
#include "support_elf.h"
#include "support_seed.h"

enum hash { GNU, SYSV, BOTH, NO_HASH };
enum { FUNC = STT_FUNC | STB_GLOBAL << 4, OBJECT = STT_OBJECT | STB_GLOBAL << 4 };
enum { FLIPS = 30000 };

static struct elf_maker made;

static size_t add_note(struct elf_maker *m) {
    const uint32_t property[] = {4, 8, NT_GNU_PROPERTY_TYPE_0, 0x00554e47, 0, 0};
    const uint32_t id[] = {4, 20, NT_GNU_BUILD_ID, 0x00554e47, 0x44332211, 0x88776655, 3, 4, 5};
    size_t at = elf_put(m, property, sizeof property, 4);
    elf_put(m, id, sizeof id, 4);
    return at;
}

/* Of two files versions are needed: the symbols' own stands behind another one's. */
static void add_versions(struct elf_maker *m, const char *file, const char *need, const char *base,
                         const char *node) {
    struct {
        Elf64_Verneed n;
        Elf64_Vernaux a;
    } needed[2] = {
        {{1, 1, elf_string(m, "libbeside.so.1"), sizeof(Elf64_Verneed), sizeof *needed},
         {0, 0, 7, elf_string(m, "BESIDE_1"), 0}},
        {{1, 1, elf_string(m, file), sizeof(Elf64_Verneed), 0}, {0, 0, 2, elf_string(m, need), 0}}};
    struct {
        Elf64_Verdef d;
        Elf64_Verdaux a;
    } defined[2] = {
        {{1, VER_FLG_BASE, 1, 1, 0, sizeof(Elf64_Verdef), sizeof defined[0]},
         {elf_string(m, base), 0}},
        {{1, 0, 3, 1, 0, sizeof(Elf64_Verdef), 0}, {elf_string(m, node), 0}},
    };
    elf_dynamic(m, DT_VERNEED, elf_put(m, needed, sizeof needed, 8));
    elf_dynamic(m, DT_VERNEEDNUM, 2);
    elf_dynamic(m, DT_VERDEF, elf_put(m, defined, sizeof defined, 8));
    elf_dynamic(m, DT_VERDEFNUM, 2);
}

static void add_relocs(struct elf_maker *m) {
    const Elf64_Rela rela[] = {
        {0x5000, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x10},
        {0x5008, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x20},
        {0x5010, ELF64_R_INFO(2, R_X86_64_GLOB_DAT), 0},
        {0x5018, ELF64_R_INFO(1, R_X86_64_64), 7},
        {0x6000, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0},
    };
    size_t at = elf_put(m, rela, sizeof rela, 8);
    elf_dynamic(m, DT_RELA, at);
    elf_dynamic(m, DT_RELASZ, sizeof rela); /* counts the PLT's, too, as some linkers do */
    elf_dynamic(m, DT_RELAENT, sizeof *rela);
    elf_dynamic(m, DT_RELACOUNT, 2);
    elf_dynamic(m, DT_JMPREL, at + 4 * sizeof *rela);
    elf_dynamic(m, DT_PLTRELSZ, sizeof *rela);
}

/* 1 and 2 are imports; 3 and 4 define one name twice, the hidden version first. */
static void make(enum hash hash) {
    struct elf_maker *m = &made;
    elf_begin(m);
    size_t note = add_note(m), note_size = m->n - note;
    elf_symbol(m, "cudnnCreate", FUNC, 0, 0, 0, 2);
    elf_symbol(m, "puts", FUNC, 0, 0, 0, 1);
    elf_symbol(m, "twice", FUNC, 1, 0x100, 4, 0x8003);
    elf_symbol(m, "twice", FUNC, 1, 0x200, 4, 3);
    elf_symbol(m, "only_hidden", FUNC, 1, 0x300, 4, 0x8003);
    elf_symbol(m, "some_version", OBJECT, 1, 0x40, 4, 1);
    elf_symbol_table(m);
    if (hash == GNU || hash == BOTH)
        elf_gnu_hash(m, (uint32_t)m->first_defined);
    if (hash == SYSV || hash == BOTH)
        elf_hash(m);
    add_versions(m, "libcudnn.so.9", "libcudnn.so.9", "libmade.so.1", "MADE_1");
    add_relocs(m);
    elf_dynamic(m, DT_NEEDED, elf_string(m, "libcudnn.so.9"));
    elf_dynamic(m, DT_SONAME, elf_string(m, "libmade.so.1"));
    elf_dynamic(m, DT_NEEDED, elf_string(m, "libc.so.6"));
    elf_dynamic(m, DT_RPATH, elf_string(m, "$ORIGIN/../lib"));
    elf_dynamic(m, DT_RUNPATH, elf_string(m, "/opt/lib"));
    elf_dynamic(m, DT_FLAGS, DF_BIND_NOW);
    elf_dynamic(m, DT_INIT, 0x1000);
    elf_end(m, note, note_size);
}

/* ---- what is in it is what is read ---- */

static void assert_symbol(const struct wc_elf_image *e, uint32_t i, const char *name,
                          const char *version, const char *file) {
    struct wc_elf_symbol s;
    assert_true(wc_elf_symbol_at(e, i, &s));
    assert_string_equal(s.name, name);
    assert_string_equal(wc_elf_symbol_name(e, i), name);
    assert_int_equal(s.defined, file == NULL && i > 2);
    if (version)
        assert_string_equal(s.version, version);
    else
        assert_null(s.version);
    if (file)
        assert_string_equal(s.version_file, file);
    else
        assert_null(s.version_file);
}

/* It wants libcudnn.so.9 of libcudnn.so.9, and defines MADE_1. */
static void assert_versions_wanted(const struct wc_elf_image *e) {
    struct wc_elf_image other = *e;
    assert_string_equal(wc_elf_version_file(e, 0), "libbeside.so.1");
    assert_string_equal(wc_elf_version_file(e, 1), "libcudnn.so.9");
    assert_null(wc_elf_version_file(e, 2));
    assert_string_equal(wc_elf_version_lacking(e, 0, e), "BESIDE_1");
    assert_string_equal(wc_elf_version_lacking(e, 1, e), "libcudnn.so.9");
    assert_null(wc_elf_version_lacking(e, 2, e));
    other.verdef = 0; /* of what defines none the loader takes what it gets */
    assert_null(wc_elf_version_lacking(e, 0, &other));
}

static void assert_made(const struct wc_elf_image *e) {
    const unsigned char id[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 3, 0,
                                0,    0,    4,    0,    0,    0,    5,    0,    0, 0};
    struct wc_elf_symbol s;
    assert_int_equal(e->build_id_size, sizeof id);
    assert_memory_equal(e->build_id, id, sizeof id);
    assert_int_equal(e->machine, EM_X86_64);
    assert_true(e->bind_now);
    assert_int_equal(e->relro_vaddr, e->dynamic);
    assert_int_equal(e->init, 0x1000);
    assert_string_equal(e->soname, "libmade.so.1");
    assert_string_equal(e->rpath, "$ORIGIN/../lib");
    assert_string_equal(e->runpath, "/opt/lib");
    assert_string_equal(wc_elf_needed(e, 0), "libcudnn.so.9");
    assert_string_equal(wc_elf_needed(e, 1), "libc.so.6");
    assert_null(wc_elf_needed(e, 2));
    assert_string_equal(wc_elf_defined_symbol_version(e), "MADE_1");
    assert_int_equal(e->symbols, 7);
    assert_symbol(e, 1, "cudnnCreate", "libcudnn.so.9", "libcudnn.so.9");
    assert_symbol(e, 2, "puts", NULL, NULL);
    assert_symbol(e, 3, "twice", "MADE_1", NULL);
    assert_symbol(e, 6, "some_version", NULL, NULL);
    assert_false(wc_elf_symbol_at(e, 7, &s));
    assert_null(wc_elf_symbol_name(e, 7));
    assert_versions_wanted(e);
}

static void assert_finds(const struct wc_elf_image *e) {
    struct wc_elf_symbol s;
    assert_true(wc_elf_find_defined(e, "twice", &s));
    assert_int_equal(s.value, 0x200);
    assert_true(wc_elf_find_defined(e, "only_hidden", &s));
    assert_int_equal(s.value, 0x300);
    assert_true(wc_elf_find_defined(e, "some_version", &s));
    assert_int_equal(s.type, STT_OBJECT);
    assert_int_equal(s.size, 4);
    assert_false(wc_elf_find_defined(e, "cudnnCreate", &s));
    assert_false(wc_elf_find_defined(e, "twic", &s));
    assert_false(wc_elf_find_defined(e, "", &s));
}

static void assert_relocs(const struct wc_elf_image *e) {
    struct wc_elf_reloc r;
    assert_true(wc_elf_reloc_at(e, 0, &r));
    assert_true(r.jump_slot_table);
    assert_int_equal(r.slot, 0x6000);
    assert_int_equal(r.symbol, 1);
    assert_true(wc_elf_reloc_at(e, 1, &r));
    assert_false(r.jump_slot_table);
    assert_int_equal(r.type, R_X86_64_GLOB_DAT);
    assert_int_equal(r.symbol, 2);
    assert_true(wc_elf_reloc_at(e, 2, &r));
    assert_int_equal(r.addend, 7);
    assert_false(wc_elf_reloc_at(e, 3, &r));
}

static void a_file_is_read(void **state) {
    (void)state;
    for (int hash = GNU; hash <= NO_HASH; hash++) {
        struct wc_elf_image e;
        make(hash);
        assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
        assert_made(&e);
        assert_finds(&e);
        assert_relocs(&e);
        assert_int_equal(e.first_defined, hash == GNU || hash == BOTH ? 3 : 0);
    }
}

/* The made object as a file of which only those bytes are there that were asked for. */
struct pieces {
    unsigned char bytes[ELF_ROOM];
    long calls, fails_at; /* this call and all later ones fail; 0: none */
};

static bool fetch_made(void *owner, uint64_t offset, uint64_t n) {
    struct pieces *p = owner;
    p->calls++;
    if (p->fails_at && p->calls >= p->fails_at)
        return false;
    assert_true(offset <= made.n && n <= made.n - offset);
    memcpy(p->bytes + offset, made.bytes + offset, n);
    return true;
}

static enum wc_elf_error read_pieces(struct wc_elf_image *e, struct pieces *p, long fails_at) {
    memset(p->bytes, 0xaa, sizeof p->bytes);
    p->calls = 0;
    p->fails_at = fails_at;
    return wc_elf_from_pieces(e, p->bytes, made.n, fetch_made, p);
}

static void a_file_read_in_pieces_says_the_same(void **state) {
    (void)state;
    static struct pieces p;
    for (int hash = GNU; hash <= NO_HASH; hash++) {
        struct wc_elf_image e;
        uint64_t at = 0;
        make(hash);
        assert_int_equal(read_pieces(&e, &p, 0), WC_ELF_OK);
        assert_made(&e);
        assert_finds(&e);
        assert_relocs(&e);
        assert_int_equal(e.first_defined, hash == GNU || hash == BOTH ? 3 : 0);
        assert_true(wc_elf_find_bytes(&e, "some_version", 12, &at, ELF_ROOM));
    }
}

/* Maps the made object at p, as a loader would; in_place: glibc's way. */
static void map_made_at(unsigned char *p, bool in_place, uint64_t *base, Elf64_Phdr phdr[5]) {
    memcpy(phdr, made.bytes + sizeof(Elf64_Ehdr), 5 * sizeof *phdr);
    *base = (uintptr_t)p;
    memcpy(p, made.bytes, phdr[0].p_filesz);
    Elf64_Dyn *d = memcpy(p + phdr[1].p_vaddr, made.bytes + phdr[1].p_offset, phdr[1].p_filesz);
    for (; in_place && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SYMTAB || d->d_tag == DT_STRTAB || d->d_tag == DT_GNU_HASH ||
            d->d_tag == DT_HASH || d->d_tag == DT_VERSYM || d->d_tag == DT_RELA ||
            d->d_tag == DT_JMPREL)
            d->d_un.d_ptr += *base;
}

static unsigned char *map_made(bool in_place, uint64_t *base, Elf64_Phdr phdr[5]) {
    unsigned char *p = malloc(ELF_ROOM + ELF_SHIFT);
    assert_non_null(p);
    map_made_at(p, in_place, base, phdr);
    return p;
}

static void a_mapped_object_is_read_relocated_or_not(void **state) {
    (void)state;
    for (int hash = GNU; hash <= NO_HASH; hash++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            struct wc_elf_image e;
            Elf64_Phdr phdr[5];
            uint64_t base;
            make(hash);
            unsigned char *p = map_made(in_place, &base, phdr);
            assert_int_equal(wc_elf_from_memory(&e, base, phdr, 5), WC_ELF_OK);
            assert_made(&e);
            assert_finds(&e);
            assert_relocs(&e);
            free(p);
        }
    }
}

/* Its addresses as they are in memory lie within it as link-time addresses, too. */
static void a_large_program_at_a_low_address_is_read(void **state) {
    (void)state;
    enum { LOW = 0x100000, LARGE = 0x300000 };
    struct wc_elf_image e;
    Elf64_Phdr phdr[5];
    uint64_t base;
    make(GNU);
    unsigned char *p = mmap((void *)LOW, LARGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(p, (void *)LOW);
    map_made_at(p, true, &base, phdr);
    phdr[1].p_memsz = LARGE - phdr[1].p_vaddr;
    assert_int_equal(wc_elf_from_memory(&e, base, phdr, 5), WC_ELF_OK);
    assert_made(&e);
    assert_finds(&e);
    assert_relocs(&e);
    munmap(p, LARGE);
}

/* What the linkers write where nothing is defined: gold, lld and mold the end, ld.bfd 1. */
static void imports_alone_are_all_seen(void **state) {
    (void)state;
    for (uint32_t symoffset = 1; symoffset <= 4; symoffset += 3) {
        struct wc_elf_image e;
        elf_begin(&made);
        elf_symbol(&made, "a", FUNC, 0, 0, 0, 1);
        elf_symbol(&made, "b", FUNC, 0, 0, 0, 1);
        elf_symbol(&made, "c", FUNC, 0, 0, 0, 1);
        elf_symbol_table(&made);
        elf_gnu_hash(&made, symoffset);
        elf_end(&made, 0, 0);
        assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
        assert_int_equal(e.symbols, 4);
        assert_int_equal(e.first_defined, 4);
        assert_string_equal(wc_elf_symbol_name(&e, 3), "c");
    }
}

static void addresses_outside_are_refused(void **state) {
    (void)state;
    struct wc_elf_image e;
    make(GNU);
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    uint64_t end = e.load[0].filesz, second = e.load[1].vaddr, size = e.load[1].filesz;
    assert_ptr_equal(wc_elf_at(&e, 0, end), made.bytes);
    assert_null(wc_elf_at(&e, 0, end + 1));
    assert_null(wc_elf_at(&e, end, 1));
    assert_null(wc_elf_at(&e, end - 1, SIZE_MAX));
    assert_null(wc_elf_at(&e, UINT64_MAX, 2));
    assert_ptr_equal(wc_elf_at(&e, second, size), made.bytes + end);
    assert_null(wc_elf_at(&e, second - 1, 2));
    assert_null(wc_elf_at(&e, second + size, 1));
    assert_null(wc_elf_string(&e, e.strsz));
    assert_string_equal(wc_elf_string(&e, e.strsz - 1), "");
}

static void bytes_are_found_within_the_limit(void **state) {
    (void)state;
    struct wc_elf_image e;
    make(GNU);
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    uint64_t at = 0, where = wc_elf_find_bytes(&e, "twice", 5, &at, SIZE_MAX);
    assert_memory_equal(wc_elf_at(&e, where, 5), "twice", 5);
    assert_int_equal(at, where + 1);
    uint64_t again = wc_elf_find_bytes(&e, "twice", 5, &at, SIZE_MAX);
    assert_true(again > where);
    assert_int_equal(wc_elf_find_bytes(&e, "twice", 5, &at, SIZE_MAX), 0);
    at = where;
    assert_int_equal(wc_elf_find_bytes(&e, "twice", 5, &at, 5), where);
    at = where;
    assert_int_equal(wc_elf_find_bytes(&e, "twice", 5, &at, 4), 0);
    /* The dynamic section is writable: DT_SYMTAB's value stands there and nowhere else. */
    const Elf64_Dyn symtab = {.d_tag = DT_SYMTAB, .d_un.d_val = e.symtab};
    at = 0;
    assert_int_equal(wc_elf_find_bytes(&e, (const char *)&symtab, sizeof symtab, &at, SIZE_MAX), 0);
}

/* ---- what is wrong is refused ---- */

static enum wc_elf_error after(size_t offset, unsigned char value) {
    struct wc_elf_image e;
    make(GNU);
    made.bytes[offset] = value;
    return wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL);
}

static void wrong_headers_have_their_reason(void **state) {
    (void)state;
    struct wc_elf_image e;
    assert_int_equal(wc_elf_from_pieces(&e, "", 0, NULL, NULL), WC_ELF_EMPTY);
    assert_int_equal(wc_elf_from_pieces(&e, "version https://git-lfs", 23, NULL, NULL),
                     WC_ELF_NOT_ELF);
    assert_int_equal(wc_elf_from_pieces(&e, "\177EL", 3, NULL, NULL), WC_ELF_TRUNCATED);
    assert_int_equal(wc_elf_from_pieces(&e, "x", 1, NULL, NULL), WC_ELF_NOT_ELF);
    assert_int_equal(after(EI_CLASS, ELFCLASS32), WC_ELF_WRONG_CLASS);
    assert_int_equal(after(EI_DATA, ELFDATA2MSB), WC_ELF_WRONG_BYTE_ORDER);
    assert_int_equal(after(offsetof(Elf64_Ehdr, e_phentsize), 32), WC_ELF_MALFORMED);
    assert_int_equal(after(offsetof(Elf64_Ehdr, e_phoff) + 7, 1), WC_ELF_TRUNCATED);
    assert_int_equal(after(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr), PT_NULL),
                     WC_ELF_NO_DYNAMIC);
    make(GNU);
    made.bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_AARCH64;
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
}

static void an_empty_segment_is_no_damage(void **state) {
    (void)state;
    struct wc_elf_image e;
    make(GNU);
    elf_phdr(&made, 3, PT_LOAD, PF_R, 0, 0, 0);
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    assert_string_equal(e.runpath, "/opt/lib");
}

/* As patchelf leaves a program with a new RPATH. */
static void a_table_goes_on_in_the_next_segment(void **state) {
    (void)state;
    struct wc_elf_image e;
    for (uint64_t gap = 0; gap < 2; gap++) {
        make(GNU);
        assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
        const struct wc_elf_segment last = e.load[1];
        const uint64_t cut = e.strtab + 4, rest = last.offset - cut;
        assert_true(e.strsz > 4);
        elf_phdr(&made, 0, PT_LOAD, PF_R, 0, 0, cut);
        elf_phdr(&made, 1, PT_LOAD, PF_R, cut - gap, cut, rest);
        elf_phdr(&made, 3, PT_LOAD, PF_R | PF_W, last.offset, last.vaddr, last.filesz);
        assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
        if (gap) /* not where the first one ends in the file */
            assert_null(e.runpath);
        else
            assert_string_equal(e.runpath, "/opt/lib");
    }
}

static Elf64_Dyn *made_entry(int64_t tag) {
    struct wc_elf_image e;
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    Elf64_Dyn *d = (Elf64_Dyn *)(void *)(made.bytes + e.load[1].offset);
    while (d->d_tag != tag)
        d++;
    return d;
}

static void a_string_table_ends_at_its_last_nul(void **state) {
    (void)state;
    struct wc_elf_image e;
    make(GNU);
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    size_t last = e.strsz - strlen("/opt/lib") - 1;
    assert_string_equal(wc_elf_string(&e, last), "/opt/lib");
    made_entry(DT_STRSZ)->d_un.d_val--;
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    assert_null(wc_elf_string(&e, last));
    assert_null(e.runpath);
    assert_string_equal(e.rpath, "$ORIGIN/../lib");
}

static void without_a_string_table_nothing_has_a_name(void **state) {
    (void)state;
    struct wc_elf_image e;
    make(GNU);
    made_entry(DT_STRTAB)->d_tag = DT_DEBUG;
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    assert_null(e.string_table);
    assert_null(e.soname);
}

static void each_of_three_entries_binds_at_once(void **state) {
    static const Elf64_Dyn entries[] = {{DT_FLAGS, {DF_BIND_NOW}},
                                        {DT_FLAGS_1, {DF_1_NOW}},
                                        {DT_BIND_NOW, {0}},
                                        {DT_FLAGS, {DF_SYMBOLIC}},
                                        {DT_FLAGS_1, {DF_1_PIE}}};
    (void)state;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct wc_elf_image e;
        make(GNU);
        *made_entry(DT_FLAGS) = entries[i];
        assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
        assert_int_equal(e.bind_now, i < 3);
    }
}

static void without_versions_the_name_of_the_file_is_one(void **state) {
    (void)state;
    struct wc_elf_image e;
    Elf64_Verdef *base;
    make(GNU);
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    base = (Elf64_Verdef *)(void *)(made.bytes + e.verdef);
    base->vd_next = 0;
    assert_string_equal(wc_elf_defined_symbol_version(&e), "libmade.so.1");
}

static void a_note_ends_with_its_segment(void **state) {
    (void)state;
    struct wc_elf_image e;
    for (unsigned cut = 0; cut <= 4; cut += 4) {
        make(GNU);
        Elf64_Phdr *note = (Elf64_Phdr *)(void *)(made.bytes + sizeof(Elf64_Ehdr)) + 3;
        note->p_memsz = note->p_filesz -= cut;
        assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
        assert_int_equal(e.build_id_size, cut ? 0 : 20);
    }
}

/* Goes through everything that a reader of a damaged image could ask for. */
static size_t exercise(const struct wc_elf_image *e) {
    size_t sum = 0;
    struct wc_elf_symbol s;
    struct wc_elf_reloc r;
    const char *name;
    for (uint32_t i = 0; i <= e->symbols; i++) {
        if (!wc_elf_symbol_at(e, i, &s))
            continue;
        sum += strlen(s.name) + (s.version ? strlen(s.version) : 0);
        sum += s.version_file ? strlen(s.version_file) : 0;
    }
    for (size_t i = 0; wc_elf_version_file(e, i); i++)
        sum += (name = wc_elf_version_lacking(e, i, e)) ? strlen(name) : 0;
    for (size_t i = 0; wc_elf_reloc_at(e, i, &r); i++)
        sum += r.symbol + r.type;
    for (size_t i = 0; i < e->dynamic_entries; i++)
        sum += (name = wc_elf_needed(e, i)) ? strlen(name) : 0;
    sum += (name = e->soname) ? strlen(name) : 0;
    sum += (name = e->rpath) ? strlen(name) : 0;
    sum += (name = e->runpath) ? strlen(name) : 0;
    sum += (name = wc_elf_defined_symbol_version(e)) ? strlen(name) : 0;
    sum += wc_elf_find_defined(e, "twice", &s) + wc_elf_find_defined(e, "nothing", &s);
    uint64_t at = 0;
    while (wc_elf_find_bytes(e, "twice", 5, &at, 4096))
        sum++;
    return sum;
}

/* Whatever the moment from which on nothing can be read any more. */
static void what_cannot_be_read_is_not_there(void **state) {
    (void)state;
    static struct pieces p;
    for (int hash = GNU; hash <= NO_HASH; hash++) {
        struct wc_elf_image e;
        make(hash);
        assert_int_equal(read_pieces(&e, &p, 0), WC_ELF_OK);
        size_t all = exercise(&e);
        long calls = p.calls;
        assert_true(calls > 40);
        assert_int_equal(read_pieces(&e, &p, 1), WC_ELF_TRUNCATED); /* the header */
        assert_int_equal(read_pieces(&e, &p, 2), WC_ELF_TRUNCATED); /* the program headers */
        for (long k = 3; k <= calls; k++) {
            const char *soname;
            if (read_pieces(&e, &p, k) != WC_ELF_OK)
                continue;
            exercise(&e);
            if ((soname = e.soname))
                assert_string_equal(soname, "libmade.so.1");
        }
        assert_int_equal(read_pieces(&e, &p, calls + 1), WC_ELF_OK);
        assert_int_equal(exercise(&e), all);
    }
}

/* Each copy ends where a sanitizer's red zone begins, and begins at any alignment. */
static enum wc_elf_error read_copy(size_t n, size_t shift) {
    struct wc_elf_image e;
    unsigned char *p = malloc(n + shift + 1);
    assert_non_null(p);
    unsigned char *copy = p + shift + 1;
    memcpy(copy, made.bytes, n);
    enum wc_elf_error error = wc_elf_from_pieces(&e, copy, n, NULL, NULL);
    exercise(&e);
    free(p);
    return error;
}

static void a_file_cut_anywhere_is_refused(void **state) {
    (void)state;
    for (int hash = GNU; hash <= NO_HASH; hash++) {
        make(hash);
        for (size_t n = 0; n < made.n; n++)
            assert_int_not_equal(read_copy(n, n % 8), WC_ELF_OK);
        assert_int_equal(read_copy(made.n, 3), WC_ELF_OK);
    }
}

static void no_flipped_bit_leads_outside(void **state) {
    (void)state;
    size_t read = 0;
    for (int i = 0; i < FLIPS; i++) {
        make(rand() % 4);
        for (int k = 1 + rand() % 4; k; k--)
            made.bytes[(size_t)rand() % made.n] ^= (unsigned char)(1 << rand() % 8);
        read += read_copy(made.n, (size_t)rand() % 8) == WC_ELF_OK;
    }
    assert_true(read > FLIPS / 2); /* most reach the inner tables */
}

/* Whole fields of the dynamic section and of the tables, set to what hurts most. */
static void no_hostile_field_leads_outside(void **state) {
    (void)state;
    static const uint64_t values[] = {0, 1, UINT32_MAX, UINT64_MAX, INT64_MAX, 0x7ffffffffffff000};
    make(BOTH);
    size_t n = made.n, count = sizeof values / sizeof *values;
    for (size_t at = sizeof(Elf64_Ehdr); at + 8 <= n; at += 4) {
        for (size_t v = 0; v <= count; v++) {
            uint64_t value = v < count ? values[v] : n - 1;
            make(BOTH);
            memcpy(made.bytes + at, &value, at % 8 ? 4 : 8);
            read_copy(n, at % 8);
        }
    }
}

/* ---- the objects of this process ---- */

struct seen {
    int objects, files;
};

static int compare_with_file(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    struct seen *seen = arg;
    struct wc_elf_image memory, file;
    struct wc_elf_symbol a, b;
    assert_int_equal(
        wc_elf_from_memory(&memory, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum), WC_ELF_OK);
    seen->objects++;
    exercise(&memory);
    const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return 0; /* the vdso */
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_ptr_not_equal(p, MAP_FAILED);
    assert_int_equal(wc_elf_from_pieces(&file, p, (size_t)st.st_size, NULL, NULL), WC_ELF_OK);
    assert_int_equal(memory.symbols, file.symbols);
    assert_int_equal(memory.first_defined, file.first_defined);
    assert_int_equal(memory.machine, file.machine);
    assert_int_equal(memory.reloc_count, file.reloc_count);
    assert_int_equal(memory.jump_reloc_count, file.jump_reloc_count);
    assert_int_equal(memory.build_id_size, file.build_id_size);
    assert_memory_equal(memory.build_id, file.build_id, file.build_id_size);
    for (uint32_t i = 1; i < file.symbols; i++) {
        assert_true(wc_elf_symbol_at(&memory, i, &a) && wc_elf_symbol_at(&file, i, &b));
        assert_string_equal(a.name, b.name);
        assert_int_equal(a.value, b.value);
        assert_true(wc_str_same(a.version, b.version));
        assert_true(wc_str_same(a.version_file, b.version_file));
        assert_true(!memory.first_defined || i >= memory.first_defined || !a.defined);
    }
    munmap(p, (size_t)st.st_size);
    seen->files++;
    return 0;
}

static void own_objects_agree_with_their_files(void **state) {
    (void)state;
    struct seen seen = {0, 0};
    dl_iterate_phdr(compare_with_file, &seen);
    assert_true(seen.objects >= 4);
    assert_true(seen.files >= 3);
}

struct wanted {
    const char *object, *name;
    uint64_t address;
};

static int find_in(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    struct wanted *w = arg;
    struct wc_elf_image e;
    struct wc_elf_symbol s;
    if (!strstr(info->dlpi_name, w->object))
        return 0;
    wc_elf_from_memory(&e, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    if (wc_elf_find_defined(&e, w->name, &s))
        w->address = e.base + s.value;
    return 1;
}

static void definitions_are_those_that_dlsym_finds(void **state) {
    (void)state;
    const char *const names[] = {"qsort", "getpid", "environ", "fnmatch", "pthread_cond_wait"};
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(libc);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct wanted w = {"/libc.so.6", names[i], 0};
        dl_iterate_phdr(find_in, &w);
        assert_ptr_equal((void *)(uintptr_t)w.address, dlsym(libc, names[i]));
    }
}

/* The table of System V says how many symbols there are. */
static void definitions_are_found_without_a_gnu_hash(void **state) {
    enum { NAMES = 40 };
    const uint32_t table[] = {1, NAMES + 1};
    struct elf_maker *m = &made;
    struct wc_elf_image e;
    struct wc_elf_symbol s;
    char name[64];
    (void)state;
    elf_begin(m);
    for (uint32_t i = 1; i <= NAMES; i++) {
        snprintf(name, sizeof name, "cudnnSomeFunction_v%u", i * 7919);
        elf_symbol(m, name, FUNC, 1, 0x100 * i, 4, 1);
    }
    elf_symbol_table(m);
    elf_dynamic(m, DT_HASH, elf_put(m, table, sizeof table, 8));
    elf_end(m, 0, 0);
    assert_int_equal(wc_elf_from_pieces(&e, m->bytes, m->n, NULL, NULL), WC_ELF_OK);
    assert_int_equal(e.symbols, NAMES + 1);
    for (uint32_t i = 1; i <= NAMES; i++) {
        snprintf(name, sizeof name, "cudnnSomeFunction_v%u", i * 7919);
        assert_true(wc_elf_find_defined(&e, name, &s));
        assert_int_equal(s.value, 0x100 * i);
    }
    assert_false(wc_elf_find_defined(&e, "cudnnSomeFunction_v", &s));
}

static void a_byte_is_found_wherever_it_is(void **state) {
    unsigned char bytes[300];
    (void)state;
    for (size_t at = 0; at < 64; at += 16) { /* a register full of them */
        memset(bytes, 0, 128);
        memset(bytes + at, 'x', 16);
        assert_int_equal(wc_elf_skip_to(bytes, 0, 128, 'x'), at);
    }
    for (int turn = 0; turn < FLIPS; turn++) {
        size_t n = (size_t)rand() % sizeof bytes, i = (size_t)rand() % (n + 1);
        unsigned char byte = (unsigned char)rand();
        memset(bytes, byte ^ (1 << rand() % 8), sizeof bytes);
        size_t first = n;
        for (int hits = rand() % 3; n && hits > 0; hits--) {
            size_t at = (size_t)rand() % n;
            bytes[at] = byte;
            first = at >= i && at < first ? at : first;
        }
        uint64_t found = wc_elf_skip_to(bytes, i, n, byte);
        assert_in_range(found, i, first);
        assert_true(found == first || n - found < 8);
    }
}

int main(void) {
    seed_draws();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(a_file_read_in_pieces_says_the_same),
        cmocka_unit_test(a_mapped_object_is_read_relocated_or_not),
        cmocka_unit_test(a_large_program_at_a_low_address_is_read),
        cmocka_unit_test(imports_alone_are_all_seen),
        cmocka_unit_test(addresses_outside_are_refused),
        cmocka_unit_test(bytes_are_found_within_the_limit),
        cmocka_unit_test(wrong_headers_have_their_reason),
        cmocka_unit_test(an_empty_segment_is_no_damage),
        cmocka_unit_test(a_table_goes_on_in_the_next_segment),
        cmocka_unit_test(a_string_table_ends_at_its_last_nul),
        cmocka_unit_test(without_a_string_table_nothing_has_a_name),
        cmocka_unit_test(each_of_three_entries_binds_at_once),
        cmocka_unit_test(without_versions_the_name_of_the_file_is_one),
        cmocka_unit_test(a_note_ends_with_its_segment),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(what_cannot_be_read_is_not_there),
        cmocka_unit_test(no_flipped_bit_leads_outside),
        cmocka_unit_test(no_hostile_field_leads_outside),
        cmocka_unit_test(own_objects_agree_with_their_files),
        cmocka_unit_test(definitions_are_those_that_dlsym_finds),
        cmocka_unit_test(definitions_are_found_without_a_gnu_hash),
        cmocka_unit_test(a_byte_is_found_wherever_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
