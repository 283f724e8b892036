/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/observe/loader/library_cache.h"
#include "tools/util/memory.h"

/* A piece of the file, which grows. Offsets in the file are addresses, too: one segment has all. */
struct piece {
    unsigned char *p;
    size_t n;
};

static size_t add(struct piece *to, const void *bytes, size_t n) {
    size_t at = to->n;

    to->p = must_grow(to->p, to->n + n + 1);
    if (bytes)
        memcpy(to->p + at, bytes, n);
    else
        memset(to->p + at, 0, n);
    to->n += n;
    return at;
}

static uint32_t add_text(struct piece *to, const char *text) {
    return (uint32_t)add(to, text, strlen(text) + 1);
}

struct making {
    struct piece strings, symbols, dynamic, constants, versions, definitions;
};

static void add_dynamic(struct making *m, int64_t tag, uint64_t value) {
    const Elf64_Dyn d = {.d_tag = tag, .d_un.d_val = value};

    add(&m->dynamic, &d, sizeof(d));
}

static void add_symbol(struct making *m, const char *name, unsigned char type, uint64_t size) {
    const Elf64_Sym symbol = {.st_name = add_text(&m->strings, name),
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                              .st_shndx = 1,
                              .st_value = 1, /* put right when places are known */
                              .st_size = size};
    const Elf64_Half version = 2;

    add(&m->symbols, &symbol, sizeof(symbol));
    add(&m->versions, &version, sizeof(version));
}

static unsigned long hash_of(const char *name) { /* gABI, "Hash Table" */
    unsigned long h = 0, high;

    for (; *name; name++) {
        h = (h << 4) + (unsigned char)*name;
        high = h & 0xf0000000;
        h = (h ^ (high >> 24)) & ~high;
    }
    return h;
}

static struct piece hash_table(const struct making *m) {
    uint32_t count = (uint32_t)(m->symbols.n / sizeof(Elf64_Sym)), buckets = count;
    struct piece table = {NULL, 0};
    uint32_t *word;

    add(&table, NULL, (2 + (size_t)buckets + count) * sizeof(*word));
    word = (uint32_t *)(void *)table.p;
    word[0] = buckets;
    word[1] = count;
    for (uint32_t i = 1; i < count; i++) {
        const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)m->symbols.p + i;
        uint32_t *bucket =
            &word[2 + hash_of((const char *)m->strings.p + symbol->st_name) % buckets];
        word[2 + buckets + i] = *bucket;
        *bucket = i;
    }
    return table;
}

/* As the linker does with a version script of one node: the base, and the node, both its SONAME. */
static void define_version(struct making *m, const char *soname) {
    const uint32_t name = add_text(&m->strings, soname);

    for (Elf64_Half i = 1; i <= 2; i++) {
        const Elf64_Verdef d = {.vd_version = VER_DEF_CURRENT,
                                .vd_flags = i == 1 ? VER_FLG_BASE : 0,
                                .vd_ndx = i,
                                .vd_cnt = 1,
                                .vd_hash = (Elf64_Word)hash_of(soname),
                                .vd_aux = sizeof(d),
                                .vd_next = i == 1 ? sizeof(d) + sizeof(Elf64_Verdaux) : 0};
        const Elf64_Verdaux a = {.vda_name = name};
        add(&m->definitions, &d, sizeof(d));
        add(&m->definitions, &a, sizeof(a));
    }
}

static void add_names(struct making *m, const struct image *image) {
    const Elf64_Sym none = {.st_name = 0};
    const Elf64_Half local = 0;

    add_text(&m->strings, "");
    add(&m->symbols, &none, sizeof(none));
    add(&m->versions, &local, sizeof(local));
    if (image->version_symbol && wc_version_known(image->version))
        add_symbol(m, image->version_symbol, STT_OBJECT, sizeof(uint32_t));
    for (const char *const *name = image->functions; name && *name; name++)
        add_symbol(m, *name, STT_FUNC, 1);
    define_version(m, image->soname);
    add_dynamic(m, DT_SONAME, add_text(&m->strings, image->soname));
    for (const char *const *name = image->needed; name && *name; name++)
        add_dynamic(m, DT_NEEDED, add_text(&m->strings, *name));
    if (image->rpath)
        add_dynamic(m, DT_RPATH, add_text(&m->strings, image->rpath));
    if (image->runpath)
        add_dynamic(m, DT_RUNPATH, add_text(&m->strings, image->runpath));
    add_text(&m->constants, "");
    for (const char *const *name = image->constants; name && *name; name++)
        add_text(&m->constants, *name);
}

static uint64_t put(struct piece *file, const struct piece *piece) {
    add(file, NULL, (16 - file->n % 16) % 16); /* aligned */
    return add(file, piece->p, piece->n);
}

static struct piece assemble(struct making *m, const struct image *image) {
    struct piece file = {NULL, 0}, hash = hash_table(m);
    const uint32_t packed =
        wc_version_known(image->version)
            ? (uint32_t)(image->version.major << 16 | (image->version.minor & 0xff) << 8 |
                         (image->version.patch & 0xff))
            : 0;
    Elf64_Phdr *segment;
    Elf64_Ehdr *head;
    uint64_t dynamic;
    size_t dynamic_size;

    add(&file, NULL, sizeof(*head) + 2 * sizeof(*segment));
    const uint64_t version_at = add(&file, &packed, sizeof(packed));
    Elf64_Sym *symbols = (Elf64_Sym *)(void *)m->symbols.p;
    for (size_t i = 1; i < m->symbols.n / sizeof(*symbols); i++)
        symbols[i].st_value = version_at; /* of code only the name matters */
    put(&file, &m->constants);
    add_dynamic(m, DT_HASH, put(&file, &hash));
    add_dynamic(m, DT_SYMTAB, put(&file, &m->symbols));
    add_dynamic(m, DT_SYMENT, sizeof(Elf64_Sym));
    add_dynamic(m, DT_STRTAB, put(&file, &m->strings));
    add_dynamic(m, DT_STRSZ, m->strings.n);
    add_dynamic(m, DT_VERSYM, put(&file, &m->versions));
    add_dynamic(m, DT_VERDEF, put(&file, &m->definitions));
    add_dynamic(m, DT_VERDEFNUM, 2);
    add_dynamic(m, DT_NULL, 0);
    dynamic_size = m->dynamic.n;
    dynamic = put(&file, &m->dynamic);
    head = (Elf64_Ehdr *)(void *)file.p;
    *head = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = OWN_MACHINE,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(*head),
        .e_ehsize = sizeof(*head),
        .e_phentsize = sizeof(*segment),
        .e_phnum = 2};
    segment = (Elf64_Phdr *)(void *)(file.p + sizeof(*head));
    segment[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                              .p_flags = PF_R | PF_X,
                              .p_filesz = file.n,
                              .p_memsz = file.n,
                              .p_align = 4096};
    segment[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                              .p_flags = PF_R,
                              .p_offset = dynamic,
                              .p_vaddr = dynamic,
                              .p_filesz = dynamic_size,
                              .p_memsz = dynamic_size,
                              .p_align = 8};
    free(hash.p);
    return file;
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
    struct making m = {.strings = {NULL, 0}};
    struct piece file;
    int fd;

    add_names(&m, image);
    file = assemble(&m, image);
    fd = image_of_bytes(file.p, file.n, image->size);
    free(m.strings.p);
    free(m.symbols.p);
    free(m.dynamic.p);
    free(m.constants.p);
    free(m.versions.p);
    free(m.definitions.p);
    free(file.p);
    return fd;
}
