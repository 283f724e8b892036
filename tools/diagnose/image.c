/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utstring.h>

#include "tools/observe/loader/library_cache.h"
#include "tools/util/memory.h"

enum { OF_SYMBOLS = 2 }; /* the version that all symbols have: 0 and 1 mean none */

/* What the file begins with. Offsets in it are addresses, too: one segment has all. */
struct head {
    Elf64_Ehdr e;
    Elf64_Phdr segment[2];
    uint32_t release; /* all symbols point here: of functions only the name matters */
};

/* The file, and the tables that follow its head, one after another. */
enum piece { STRINGS, SYMBOLS, VERSIONS, DYNAMIC, FILE_ITSELF, PIECES };

struct making {
    UT_string piece[PIECES];
};

/* Returns where in the piece it is. */
static size_t add(struct making *m, enum piece to, const void *bytes, size_t n) {
    const size_t at = utstring_len(&m->piece[to]);

    utstring_bincpy(&m->piece[to], bytes, n);
    return at;
}

static size_t put(struct making *m, enum piece piece) {
    return add(m, FILE_ITSELF, utstring_body(&m->piece[piece]), utstring_len(&m->piece[piece]));
}

static uint32_t add_text(struct making *m, const char *text) {
    return (uint32_t)add(m, STRINGS, text, strlen(text) + 1);
}

static void add_dynamic(struct making *m, int64_t tag, uint64_t value) {
    const Elf64_Dyn d = {.d_tag = tag, .d_un.d_val = value};

    add(m, DYNAMIC, &d, sizeof(d));
}

static void add_symbol(struct making *m, const char *name, unsigned char type, uint64_t size) {
    const Elf64_Sym symbol = {.st_name = add_text(m, name),
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                              .st_shndx = 1,
                              .st_value = offsetof(struct head, release),
                              .st_size = size};
    const Elf64_Half version = OF_SYMBOLS;

    add(m, SYMBOLS, &symbol, sizeof(symbol));
    add(m, VERSIONS, &version, sizeof(version));
}

static void add_names(struct making *m, const struct image *image) {
    const struct head none = {.release = 0};

    add(m, FILE_ITSELF, &none, sizeof(none));
    add(m, SYMBOLS, &none, sizeof(Elf64_Sym));
    add(m, VERSIONS, &none, sizeof(Elf64_Half));
    add_text(m, "");
    if (image->version_symbol && wc_version_known(image->version))
        add_symbol(m, image->version_symbol, STT_OBJECT, sizeof(none.release));
    EACH_ENTRY(name, image->functions)
        add_symbol(m, *name, STT_FUNC, 1);
    EACH_ENTRY(name, image->needed)
        add_dynamic(m, DT_NEEDED, add_text(m, *name));
    if (image->rpath)
        add_dynamic(m, DT_RPATH, add_text(m, image->rpath));
    if (image->runpath)
        add_dynamic(m, DT_RUNPATH, add_text(m, image->runpath));
    EACH_ENTRY(name, image->constants)
        add_text(m, *name);
}

/* One bucket, which has all. Returns where it is. */
static size_t put_hash_table(struct making *m) {
    const uint32_t count = (uint32_t)(utstring_len(&m->piece[SYMBOLS]) / sizeof(Elf64_Sym));
    const uint32_t head[] = {1, count, count > 1, 0};
    const size_t at = add(m, FILE_ITSELF, head, sizeof(head));

    for (uint32_t next = 2; next <= count; next++)
        add(m, FILE_ITSELF, next < count ? &next : &head[3], sizeof(next));
    return at;
}

static void assemble(struct making *m, const struct image *image) {
    const struct wc_version v = image->version;
    const struct {
        Elf64_Verdef d;
        Elf64_Verdaux name;
    } version = {{.vd_version = VER_DEF_CURRENT,
                  .vd_ndx = OF_SYMBOLS,
                  .vd_cnt = 1,
                  .vd_aux = sizeof(version.d)},
                 {.vda_name = add_text(m, image->soname)}}; /* as NVIDIA's are called */

    add_dynamic(m, DT_SONAME, version.name.vda_name);
    add_dynamic(m, DT_HASH, put_hash_table(m));
    add_dynamic(m, DT_VERDEF, add(m, FILE_ITSELF, &version, sizeof(version)));
    add_dynamic(m, DT_VERDEFNUM, 1);
    add_dynamic(m, DT_SYMTAB, put(m, SYMBOLS));
    add_dynamic(m, DT_SYMENT, sizeof(Elf64_Sym));
    add_dynamic(m, DT_VERSYM, put(m, VERSIONS));
    add_dynamic(m, DT_STRTAB, put(m, STRINGS));
    add_dynamic(m, DT_STRSZ, utstring_len(&m->piece[STRINGS]));
    add_dynamic(m, DT_NULL, 0);
    const uint64_t dynamic = put(m, DYNAMIC), all = utstring_len(&m->piece[FILE_ITSELF]);
    const struct head head = {
        .e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
              .e_type = ET_DYN,
              .e_machine = OWN_MACHINE,
              .e_version = EV_CURRENT,
              .e_phoff = offsetof(struct head, segment),
              .e_ehsize = sizeof(head.e),
              .e_phentsize = sizeof(*head.segment),
              .e_phnum = 2},
        .segment = {{PT_LOAD, PF_R | PF_X, .p_filesz = all, .p_memsz = all, .p_align = 4096},
                    {PT_DYNAMIC, PF_R, dynamic, dynamic, 0, all - dynamic, all - dynamic, 1}},
        .release = wc_version_known(v)
                       ? (uint32_t)(v.major << 16 | (v.minor & 0xff) << 8 | (v.patch & 0xff))
                       : 0};
    memcpy(utstring_body(&m->piece[FILE_ITSELF]), &head, sizeof(head));
}

int image_of_bytes(const void *bytes, size_t n, uint64_t size) {
    int fd = memfd_create("whichcudnn", MFD_CLOEXEC);

    if ((n > 0 && write(fd, bytes, n) != (ssize_t)n) ||
        (size > n && ftruncate(fd, (off_t)size) != 0))
        fd_end(&fd);
    return fd;
}

int image_make(const struct image *image) {
    struct making m;

    for (size_t i = 0; i < PIECES; i++)
        utstring_init(&m.piece[i]);
    add_names(&m, image);
    assemble(&m, image);
    int fd = image_of_bytes(utstring_body(&m.piece[FILE_ITSELF]),
                            utstring_len(&m.piece[FILE_ITSELF]), image->size);
    for (size_t i = 0; i < PIECES; i++)
        utstring_done(&m.piece[i]);
    return fd;
}
