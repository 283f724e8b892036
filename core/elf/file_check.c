/* SPDX-License-Identifier: Apache-2.0 */
/* Why a file is not a library, or not one for this process (file_check.h). */
#include "file_check.h"

#include <elf.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

enum { BEGINNING = 1024, SEGMENTS_MOST = 128, PAGE = 4096 };

/* First bytes of files that are found in place of a library. A longer row is before the rows
 * that it begins with. */
static const struct {
    const char *bytes, *what;
} magics[] = {
    {"!<arch>\n", "a static archive"},
    {"!<thin>\n", "a static archive"},
    {"PK\x03\x04", "a zip archive"},
    {"\x1f\x8b", "a gzip archive"},
    {"\xfd"
     "7zXZ",
     "an xz archive"},
    {"\x28\xb5\x2f\xfd", "a zstd archive"},
    {"MZ", "a Windows library"},
    {"\xcf\xfa\xed\xfe", "a macOS library"},
    {"\xca\xfe\xba\xbe", "a macOS library"},
    {"/* GNU ld script", "a linker script"},
    {"<!DOCTYPE", "an HTML page"},
    {"<!doctype", "an HTML page"},
    {"<html", "an HTML page"},
    {"#!", "a script"},
};

/* e_machine of the gABI and its supplements. */
static const struct {
    uint16_t number;
    const char *name;
} machines[] = {
    {EM_386, "i386"},        {EM_ARM, "ARM"},      {EM_X86_64, "x86-64"},
    {EM_AARCH64, "aarch64"}, {EM_PPC, "PowerPC"},  {EM_PPC64, "PowerPC 64"},
    {EM_S390, "s390"},       {EM_RISCV, "RISC-V"}, {EM_LOONGARCH, "LoongArch"},
};

struct checked {
    const struct wc_files *files;
    const char *path;
    uint16_t machine;
    struct wc_file_check *out;
    struct wc_text what;
    size_t n; /* of beginning */
    unsigned char beginning[BEGINNING];
};

static void conclude(struct checked *l, enum wc_file_fault fault, const char *what) {
    l->out->fault = fault;
    wc_text_add(&l->what, what);
}

static bool read_at(const struct checked *l, uint64_t offset, void *to, size_t size) {
    size_t n;

    if (offset < l->n && size <= l->n - offset) {
        wc_mem_copy(to, l->beginning + offset, size);
        return true;
    }
    return l->files->read(l->files->ctx, l->path, offset, to, size, &n) && n == size;
}

/* ---- not an ELF file ---- */

static bool begins_with(const struct checked *l, const char *bytes) {
    size_t n = wc_str_length(bytes);
    return n <= l->n && wc_mem_compare(l->beginning, bytes, n) == 0;
}

/* The pointer format of git-LFS: "version https://git-lfs...", "oid ...", "size N". */
static bool is_pointer(struct checked *l) {
    static const char version[] = "version https://git-lfs", size[] = "\nsize ";
    char text[BEGINNING + 1];
    uint64_t bytes;

    if (!begins_with(l, version))
        return false;
    wc_mem_copy(text, l->beginning, l->n);
    text[l->n] = 0;
    const char *at = wc_str_find(text, size);
    conclude(l, WC_file_fault_POINTER, "a git-LFS pointer");
    if (at && wc_parse_number(at + sizeof size - 1, sizeof text, &bytes)) {
        l->out->needs = (int64_t)bytes;
        wc_text_format(&l->what, " to a file of %jd bytes", (intmax_t)bytes);
    }
    return true;
}

static const char *other_kind(const struct checked *l) {
    size_t zeros = 0, printable = 0;

    WC_EACH_ROW(magic, magics)
        if (begins_with(l, magic->bytes))
            return magic->what;
    for (size_t i = 0; i < l->n; i++) {
        unsigned char c = l->beginning[i];
        zeros += c == 0;
        printable += (c >= ' ' && c != 0x7F) || (c >= '\t' && c <= '\r');
    }
    return zeros == l->n ? "zeros" : printable == l->n ? "text" : "no ELF file";
}

/* ---- ELF files ---- */

static uint16_t half_at(const struct checked *l, size_t offset) {
    const unsigned char *p = l->beginning + offset;

    return l->beginning[EI_DATA] == ELFDATA2MSB ? (uint16_t)(p[0] << 8 | p[1])
                                                : (uint16_t)(p[1] << 8 | p[0]);
}

static void add_machine(struct checked *l, uint16_t machine) {
    WC_EACH_ROW(row, machines)
        if (row->number == machine) {
            wc_text_add(&l->what, row->name);
            return;
        }
    wc_text_format(&l->what, "machine %d", machine);
}

/* "a 32-bit library for i386, in a 64-bit process for x86-64" */
static void conclude_foreign(struct checked *l, enum wc_file_fault fault) {
    conclude(l, fault, "a ");
    wc_text_format(&l->what, "%d-bit library%s for ",
                   l->beginning[EI_CLASS] == ELFCLASS32 ? 32 : 64,
                   l->beginning[EI_DATA] == ELFDATA2MSB ? " of big-endian byte order" : "");
    add_machine(l, half_at(l, offsetof(Elf64_Ehdr, e_machine)));
    wc_text_add(&l->what, ", in a 64-bit process for ");
    add_machine(l, l->machine);
}

struct segments {
    int64_t end;       /* of the last one in the file; -1: the program headers are cut off */
    uint64_t dynamic;  /* offset of the dynamic section; 0: there is none */
    bool loaded, torn; /* there is a PT_LOAD; one does not begin where a page of the file does */
};

static void read_segments(struct checked *l, const Elf64_Ehdr *h, struct segments *s) {
    uint64_t end = h->e_phoff + (uint64_t)h->e_phnum * sizeof(Elf64_Phdr);
    uint64_t low = UINT64_MAX, high = 0;
    Elf64_Phdr p;

    s->end = -1;
    for (size_t i = 0; i < h->e_phnum && i < SEGMENTS_MOST; i++) {
        if (!read_at(l, h->e_phoff + i * sizeof p, &p, sizeof p))
            return;
        if (p.p_type == PT_DYNAMIC)
            s->dynamic = p.p_offset;
        if (p.p_type != PT_LOAD)
            continue;
        s->loaded = true;
        s->torn |= (p.p_vaddr - p.p_offset) % PAGE != 0;
        if (p.p_vaddr + p.p_memsz >= p.p_vaddr) {
            low = p.p_vaddr < low ? p.p_vaddr : low;
            high = p.p_vaddr + p.p_memsz > high ? p.p_vaddr + p.p_memsz : high;
        }
        if (p.p_offset + p.p_filesz > end && p.p_offset + p.p_filesz >= p.p_offset)
            end = p.p_offset + p.p_filesz;
    }
    l->out->maps = high > low ? high - low : 0;
    s->end = end > INT64_MAX ? INT64_MAX : (int64_t)end;
}

static void conclude_cut(struct checked *l, int64_t needs) {
    conclude(l, WC_file_fault_CUT, "a library that is cut short: ");
    wc_text_format(&l->what, "%jd", (intmax_t)l->out->size);
    if (needs > 0) {
        l->out->needs = needs;
        wc_text_format(&l->what, " of %jd", (intmax_t)needs);
    }
    wc_text_add(&l->what, " bytes are there");
}

/* The checks of the loader: elf/dl-load.c, open_verify and _dl_map_object_from_fd. Magic, class and
 * byte order were checked before. */
static void look_at_library(struct checked *l) {
    struct segments s = {.end = 0};
    uint64_t rest; /* the version of the ABI, and what has to be zeros */
    Elf64_Ehdr h;
    Elf64_Dyn first;

    wc_mem_copy(&h, l->beginning, sizeof h);
    if (h.e_type != ET_DYN) {
        conclude(l, WC_file_fault_NOT_A_LIBRARY,
                 h.e_type == ET_REL    ? "an object file that was not linked"
                 : h.e_type == ET_EXEC ? "a program"
                                       : "an ELF file, but no library");
        return;
    }
    wc_mem_copy(&rest, h.e_ident + EI_ABIVERSION, sizeof rest);
    /* Any ABI version is valid with ELFOSABI_GNU. */
    rest = h.e_ident[EI_OSABI] == ELFOSABI_GNU ? rest >> 8 : h.e_ident[EI_OSABI] | rest;
    if (rest == 0 && h.e_ident[EI_VERSION] == EV_CURRENT && h.e_version == EV_CURRENT &&
        h.e_phentsize == sizeof(Elf64_Phdr))
        read_segments(l, &h, &s);
    if (s.end < 0 || s.end > l->out->size)
        conclude_cut(l, s.end);
    else if (!s.loaded || !s.dynamic)
        conclude(l, WC_file_fault_MALFORMED, "a library whose headers make no sense");
    else if (s.torn)
        conclude(l, WC_file_fault_MALFORMED, "a library whose segments do not lie on pages");
    else if (read_at(l, s.dynamic, &first, sizeof first) && first.d_tag == DT_NULL)
        /* An interrupted copy that had allocated the whole file leaves zeros at its end. */
        conclude(l, WC_file_fault_MALFORMED,
                 "a library that was not written to its end: its tables are zeros");
    else
        conclude(l, WC_file_fault_UNKNOWN, "a library");
}

static void look_at_elf(struct checked *l) {
    if (l->n < sizeof(Elf32_Ehdr) ||
        (l->n < sizeof(Elf64_Ehdr) && l->beginning[EI_CLASS] == ELFCLASS64))
        conclude_cut(l, -1);
    else if (l->beginning[EI_CLASS] != ELFCLASS64)
        conclude_foreign(l, WC_file_fault_OTHER_CLASS);
    else if (l->beginning[EI_DATA] != ELFDATA2LSB)
        conclude_foreign(l, WC_file_fault_OTHER_BYTE_ORDER);
    else if (half_at(l, offsetof(Elf64_Ehdr, e_machine)) != l->machine)
        conclude_foreign(l, WC_file_fault_OTHER_MACHINE);
    else
        look_at_library(l);
}

/* ---- not a file, or not readable ---- */

struct entry {
    const char *name;
    bool there;
};

static bool is_entry(void *arg, const char *name) {
    struct entry *e = arg;

    e->there = wc_str_same(name, e->name);
    return !e->there;
}

bool wc_closed_directory(const struct wc_files *files, const char *path, char *to, size_t cap,
                         bool *is_link) {
    struct wc_file_stat facts = {.closed = false};
    size_t n = wc_str_length(path), below = n;
    bool closed = false;

    /* Finds the longest beginning of the path that can be examined, and the entry in it that
     * cannot. */
    while (wc_str_format(to, cap, "%.*s", (int)n, path) && !files->facts(files->ctx, to, &facts)) {
        closed = facts.closed;
        below = n;
        while (n && path[n - 1] == '/')
            n--;
        while (n && path[n - 1] != '/')
            n--;
        if (!n)
            return false;
    }
    if (!closed)
        return false;
    /* If "." in the directory cannot be examined, the directory is closed; else the entry is a link
     * to a closed one. */
    if (!wc_str_format(to, cap, "%.*s.", (int)n, path))
        return false;
    facts.closed = false;
    *is_link = files->facts(files->ctx, to, &facts);
    n = *is_link ? below : n;
    while (n > 1 && path[n - 1] == '/')
        n--;
    return (*is_link || facts.closed) && wc_str_format(to, cap, "%.*s", (int)n, path);
}

bool wc_file_check(const struct wc_files *files, const char *path, uint16_t machine,
                   struct wc_file_check *out) {
    struct checked l = {.files = files, .path = path, .machine = machine, .out = out};
    struct wc_file_stat facts = {.closed = false};

    out->fault = WC_file_fault_UNKNOWN;
    out->size = out->needs = WC_NULL;
    out->maps = 0;
    wc_text_begin(&l.what, out->what, sizeof out->what);
    if (!files->facts(files->ctx, path, &facts)) {
        char directory[1024];
        struct entry e = {wc_base_name(path), false};
        int n = (int)wc_dir_length(path);
        bool is_link;
        if (!facts.closed) {
            /* If its directory has an entry of that name, that is a link that leads nowhere. */
            if (!wc_str_format(directory, sizeof directory, "%.*s", n ? n : 1, n ? path : ".") ||
                !files->list(files->ctx, directory, is_entry, &e) || !e.there)
                return false;
            conclude(&l, WC_file_fault_DANGLING, "a link that leads nowhere");
            return true;
        }
        conclude(&l, WC_file_fault_CLOSED, "behind ");
        if (!wc_closed_directory(files, path, directory, sizeof directory, &is_link))
            wc_text_add(&l.what, "a directory that this process may not enter");
        else
            wc_text_format(&l.what, "%s, %s this process may not enter", directory,
                           is_link ? "a link to what" : "which");
        return true;
    }
    out->size = (int64_t)facts.size;
    if (facts.directory)
        conclude(&l, WC_file_fault_DIRECTORY, "a directory");
    else if (!facts.regular)
        conclude(&l, WC_file_fault_NOT_ELF, "no regular file");
    else if (facts.size == 0)
        conclude(&l, WC_file_fault_EMPTY, "empty");
    else if (!files->read(files->ctx, path, 0, l.beginning, sizeof l.beginning, &l.n))
        conclude(&l, WC_file_fault_UNREADABLE, "a file that this process may not read");
    else if (begins_with(&l, ELFMAG))
        look_at_elf(&l);
    else if (!is_pointer(&l))
        conclude(&l, WC_file_fault_NOT_ELF, other_kind(&l));
    return true;
}
