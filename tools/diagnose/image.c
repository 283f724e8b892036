/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utstring.h>

#include "tools/observe/loader/library_cache.h"
#include "tools/util/memory.h"

/* The file is put together from pieces. Offsets in it are addresses, too: one segment has all. */
enum piece {
    STRINGS,
    SYMBOLS,
    DYNAMIC,
    CONSTANTS,
    VERSIONS,
    DEFINITIONS,
    HASH,
    FILE_ITSELF,
    PIECES
};

struct making {
    UT_string piece[PIECES];
};

/* Returns where in the piece it is. */
static size_t add(struct making *m, enum piece to, const void *bytes, size_t n) {
    const size_t at = utstring_len(&m->piece[to]);

    utstring_bincpy(&m->piece[to], bytes, n);
    return at;
}

static uint32_t add_text(struct making *m, enum piece to, const char *text) {
    return (uint32_t)add(m, to, text, strlen(text) + 1);
}

static void add_dynamic(struct making *m, int64_t tag, uint64_t value) {
    const Elf64_Dyn d = {.d_tag = tag, .d_un.d_val = value};

    add(m, DYNAMIC, &d, sizeof(d));
}

static void add_symbol(struct making *m, const char *name, unsigned char type, uint64_t size) {
    const Elf64_Sym symbol = {.st_name = add_text(m, STRINGS, name),
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                              .st_shndx = 1,
                              .st_value = 1, /* put right when places are known */
                              .st_size = size};
    const Elf64_Half version = 2;

    add(m, SYMBOLS, &symbol, sizeof(symbol));
    add(m, VERSIONS, &version, sizeof(version));
}

/* One bucket, which has all. */
static void make_hash_table(struct making *m) {
    const uint32_t count = (uint32_t)(utstring_len(&m->piece[SYMBOLS]) / sizeof(Elf64_Sym));
    const uint32_t head[] = {1, count, count > 1, 0};

    add(m, HASH, head, sizeof(head));
    for (uint32_t next = 2; next <= count; next++)
        add(m, HASH, next < count ? &next : &head[3], sizeof(next));
}

/* As the linker does with a version script of one node: the base, and the node, both its SONAME. */
static void define_version(struct making *m, const char *soname) {
    const uint32_t name = add_text(m, STRINGS, soname);

    for (Elf64_Half i = 1; i <= 2; i++) {
        const Elf64_Verdef d = {.vd_version = VER_DEF_CURRENT,
                                .vd_flags = i == 1 ? VER_FLG_BASE : 0,
                                .vd_ndx = i,
                                .vd_cnt = 1,
                                .vd_aux = sizeof(d),
                                .vd_next = i == 1 ? sizeof(d) + sizeof(Elf64_Verdaux) : 0};
        const Elf64_Verdaux a = {.vda_name = name};
        add(m, DEFINITIONS, &d, sizeof(d));
        add(m, DEFINITIONS, &a, sizeof(a));
    }
}

static void add_names(struct making *m, const struct image *image) {
    const Elf64_Sym none = {.st_name = 0};
    const Elf64_Half local = 0;

    add_text(m, STRINGS, "");
    add(m, SYMBOLS, &none, sizeof(none));
    add(m, VERSIONS, &local, sizeof(local));
    if (image->version_symbol && wc_version_known(image->version))
        add_symbol(m, image->version_symbol, STT_OBJECT, sizeof(uint32_t));
    for (const char *const *name = image->functions; name && *name; name++)
        add_symbol(m, *name, STT_FUNC, 1);
    define_version(m, image->soname);
    add_dynamic(m, DT_SONAME, add_text(m, STRINGS, image->soname));
    for (const char *const *name = image->needed; name && *name; name++)
        add_dynamic(m, DT_NEEDED, add_text(m, STRINGS, *name));
    if (image->rpath)
        add_dynamic(m, DT_RPATH, add_text(m, STRINGS, image->rpath));
    if (image->runpath)
        add_dynamic(m, DT_RUNPATH, add_text(m, STRINGS, image->runpath));
    add_text(m, CONSTANTS, "");
    for (const char *const *name = image->constants; name && *name; name++)
        add_text(m, CONSTANTS, *name);
}

/* At the end of the file, aligned. */
static uint64_t put(struct making *m, enum piece piece) {
    static const char zeros[16];
    const UT_string *from = &m->piece[piece];

    add(m, FILE_ITSELF, zeros, (16 - utstring_len(&m->piece[FILE_ITSELF]) % 16) % 16);
    return add(m, FILE_ITSELF, utstring_body(from), utstring_len(from));
}

static void assemble(struct making *m, const struct image *image) {
    const uint32_t packed =
        wc_version_known(image->version)
            ? (uint32_t)(image->version.major << 16 | (image->version.minor & 0xff) << 8 |
                         (image->version.patch & 0xff))
            : 0;
    struct {
        Elf64_Ehdr e;
        Elf64_Phdr segment[2];
    } head = {
        .e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
              .e_type = ET_DYN,
              .e_machine = OWN_MACHINE,
              .e_version = EV_CURRENT,
              .e_phoff = sizeof(head.e),
              .e_ehsize = sizeof(head.e),
              .e_phentsize = sizeof(*head.segment),
              .e_phnum = 2}};

    add(m, FILE_ITSELF, &head, sizeof(head));
    const uint64_t version_at = add(m, FILE_ITSELF, &packed, sizeof(packed));
    Elf64_Sym *symbols = (Elf64_Sym *)(void *)utstring_body(&m->piece[SYMBOLS]);
    for (size_t i = 1; i < utstring_len(&m->piece[SYMBOLS]) / sizeof(*symbols); i++)
        symbols[i].st_value = version_at; /* of code only the name matters */
    make_hash_table(m);
    put(m, CONSTANTS);
    add_dynamic(m, DT_HASH, put(m, HASH));
    add_dynamic(m, DT_SYMTAB, put(m, SYMBOLS));
    add_dynamic(m, DT_SYMENT, sizeof(Elf64_Sym));
    add_dynamic(m, DT_STRTAB, put(m, STRINGS));
    add_dynamic(m, DT_STRSZ, utstring_len(&m->piece[STRINGS]));
    add_dynamic(m, DT_VERSYM, put(m, VERSIONS));
    add_dynamic(m, DT_VERDEF, put(m, DEFINITIONS));
    add_dynamic(m, DT_VERDEFNUM, 2);
    add_dynamic(m, DT_NULL, 0);
    const uint64_t dynamic = put(m, DYNAMIC), all = utstring_len(&m->piece[FILE_ITSELF]);
    head.segment[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                   .p_flags = PF_R | PF_X,
                                   .p_filesz = all,
                                   .p_memsz = all,
                                   .p_align = 4096};
    head.segment[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                   .p_flags = PF_R,
                                   .p_offset = dynamic,
                                   .p_vaddr = dynamic,
                                   .p_filesz = all - dynamic,
                                   .p_memsz = all - dynamic,
                                   .p_align = 8};
    memcpy(utstring_body(&m->piece[FILE_ITSELF]), &head, sizeof(head));
}

int image_of_bytes(const void *bytes, size_t n, uint64_t size) {
    int fd = memfd_create("whichcudnn", MFD_CLOEXEC);

    if (fd < 0)
        return -1;
    if ((n > 0 && write(fd, bytes, n) != (ssize_t)n) ||
        (size > n && ftruncate(fd, (off_t)size) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int image_make(const struct image *image) {
    struct making m;
    int fd;

    for (size_t i = 0; i < PIECES; i++)
        utstring_init(&m.piece[i]);
    add_names(&m, image);
    assemble(&m, image);
    fd = image_of_bytes(utstring_body(&m.piece[FILE_ITSELF]), utstring_len(&m.piece[FILE_ITSELF]),
                        image->size);
    for (size_t i = 0; i < PIECES; i++)
        utstring_done(&m.piece[i]);
    return fd;
}
