/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_prescan.h"

#include <elf.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/elf_image.h"
#include "core/names/names.h"
#include "tools/util/memory.h"

#define ROOM ((size_t)256 << 10) /* read at once */
#define HEAD ((size_t)4096)      /* headers of most files lie there */
#define HEADERS_MOST 64
#define STEM "libcudnn"   /* with which names of cuDNN's libraries begin */
#define OF_NVIDIA "libcu" /* ... and most of CUDA's */
#define DYNAMIC_MOST ((size_t)64 << 10)
#define SECTION_NAMES_MOST ((size_t)64 << 10)
/* Of names; with more, to look some up is cheaper. */
#define STRINGS_MOST ((uint64_t)16 << 20)
#define NOTES_MOST ((size_t)64 << 10) /* bytes of one segment of notes */
#define OVERLAP ((size_t)64)          /* so much of a piece is looked at again with the next one */

struct prescan {
    struct elf_prescan *g;
    int fd;
    uint64_t size;
    Elf64_Phdr segment[HEADERS_MOST];
    size_t segments;
    uint64_t dynamic, dynamic_size; /* in the file */
};

static enum elf_prescan_answer damaged(struct elf_prescan *g, const char *why) {
    g->why = why;
    return ELF_PRESCAN_DAMAGED;
}

static bool read_at(const struct prescan *s, uint64_t offset, void *to, size_t n) {
    return offset <= s->size && n <= s->size - offset && below_read(s->fd, offset, to, n) == n;
}

/* ---- .note.dlopen ---- */

static bool add_name(struct elf_prescan *g, const char *name, enum wc_priority priority,
                     bool or_else) {
    struct elf_prescan_name *const to = &g->name[g->names];

    if (g->names == ELF_PRESCAN_NAME_MOST || strncmp(name, STEM, sizeof(STEM) - 1) != 0 ||
        !wc_name_is_cudnn(name) || strlen(name) >= sizeof(to->text))
        return false;
    stpcpy(to->text, name);
    to->priority = priority;
    to->or_else = or_else;
    g->opens |= priority || wc_name_kind_of(name) == WC_NAME_FACADE;
    g->names++;
    return true;
}

/* Libraries that serve in place of one another, the most preferred first: by version 1.0 of
 * https://uapi-group.org/specifications/specs/elf_dlopen_metadata/. False: it has another form. */
static bool add_dependency(struct elf_prescan *g, const json_t *dependency) {
    const json_t *const names = json_object_get(dependency, "soname"), *name;
    const json_t *const word = json_object_get(dependency, "priority");
    enum wc_priority priority = word ? WC_priority_REQUIRED : WC_priority_RECOMMENDED;
    bool or_else = false;
    size_t i;

    while (word && !wc_str_same(json_string_value(word), wc_enum_word(WC_ENUM_priority, priority)))
        if (priority++ == WC_priority_SUGGESTED)
            return false;
    json_array_foreach(names, i, name) {
        const char *text = json_string_value(name);
        if (!text)
            return false;
        or_else |= add_name(g, text, priority, or_else);
    }
    return i > 0;
}

/* there: so many bytes of the file are in g->room. */
static void read_notes(const struct prescan *s, const Elf64_Phdr *p, size_t there) {
    struct elf_prescan *const g = s->g;
    size_t n = p->p_filesz < NOTES_MOST ? (size_t)p->p_filesz : NOTES_MOST;
    const bool is_read = p->p_offset <= there && n <= there - p->p_offset;
    struct wc_elf_notes notes = {g->room + (is_read ? p->p_offset : HEAD), n, p->p_align};
    const unsigned char *text;

    if (!is_read && !read_at(s, p->p_offset, g->room + HEAD, n))
        return;
    while ((text = wc_elf_next_note(&notes, "FDO", 0x407c0c0a, &n))) {
        if (!memmem(text, n, STEM, sizeof(STEM) - 1))
            continue;
        json_t *all = json_loadb((const char *)text, strnlen((const char *)text, n),
                                 JSON_REJECT_DUPLICATES, NULL),
               *one;
        size_t i;
        g->damaged_note |= !json_is_array(all);
        json_array_foreach(all, i, one)
            g->damaged_note |= !add_dependency(g, one);
        json_decref(all);
    }
    g->damaged_note |= memmem(notes.at, notes.n, STEM, sizeof(STEM) - 1) != NULL;
}

/* ---- where names are ---- */

static enum elf_prescan_answer read_headers(struct prescan *s) {
    size_t n = below_read(s->fd, 0, s->g->room, s->size < HEAD ? (size_t)s->size : HEAD);
    Elf64_Ehdr e;
    Elf64_Phdr p;

    s->g->has_interpreter = s->g->is_command = false;
    s->g->knows_declared = s->g->damaged_note = s->g->opens = false;
    s->g->names = 0;
    s->g->cuda = 0;
    if (n < sizeof(e) || memcmp(s->g->room, ELFMAG, SELFMAG) != 0)
        return ELF_PRESCAN_NOTHING; /* text that a linker reads, a pointer to a large file, ... */
    memcpy(&e, s->g->room, sizeof(e));
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB)
        return ELF_PRESCAN_NOTHING;
    if (e.e_phentsize != sizeof(p) || e.e_phnum == 0 || e.e_phnum > HEADERS_MOST)
        return damaged(s->g, "its program headers are damaged");
    const unsigned char *headers = s->g->room;
    if (e.e_phoff <= n && (n - e.e_phoff) / sizeof(p) >= e.e_phnum) {
        headers += e.e_phoff;
    } else if (!read_at(s, e.e_phoff, s->g->room, e.e_phnum * sizeof(p))) {
        return damaged(s->g, "it is cut short");
    } else {
        n = 0;
    }
    for (size_t i = 0; i < e.e_phnum; i++) {
        memcpy(&p, headers + i * sizeof(p), sizeof(p));
        if (p.p_type == PT_LOAD)
            s->segment[s->segments++] = p;
        if (p.p_type == PT_DYNAMIC) {
            s->dynamic = p.p_offset;
            s->dynamic_size = p.p_filesz;
        }
        s->g->has_interpreter = s->g->has_interpreter || p.p_type == PT_INTERP;
        if (p.p_type == PT_NOTE)
            read_notes(s, &p, n);
    }
    if (s->g->damaged_note)
        s->g->names = 0;
    return ELF_PRESCAN_NAMES;
}

/* Where .dynstr is in the file. */
static bool find_strings(const struct prescan *s, uint64_t *offset, uint64_t *size) {
    size_t n = s->dynamic_size < DYNAMIC_MOST ? (size_t)s->dynamic_size : DYNAMIC_MOST;
    uint64_t address = 0;
    Elf64_Dyn d;

    *size = 0;
    if (!read_at(s, s->dynamic, s->g->room, n))
        return false;
    for (size_t at = 0; n - at >= sizeof(d); at += sizeof(d)) {
        memcpy(&d, s->g->room + at, sizeof(d));
        if (d.d_tag == DT_NULL)
            break;
        if (d.d_tag == DT_STRTAB)
            address = d.d_un.d_ptr;
        else if (d.d_tag == DT_STRSZ)
            *size = d.d_un.d_val;
    }
    WC_EACH(g, WC_ITEMS(s->segment, s->segments)) {
        if (address < g->p_vaddr || address - g->p_vaddr >= g->p_filesz)
            continue;
        *offset = g->p_offset + (address - g->p_vaddr);
        if (*size <= g->p_filesz - (address - g->p_vaddr))
            return true;
    }
    *size = 0;
    return false;
}

/* Pieces of a part of the file, until `each` has seen enough. False: it cannot be read. */
static bool read_pieces(const struct prescan *s, uint64_t offset, uint64_t size,
                        bool (*each)(void *ctx, const unsigned char *p, size_t n), void *ctx) {
    size_t kept = 0;

    while (size > 0) {
        size_t n = size < ROOM - kept ? (size_t)size : ROOM - kept;
        if (!read_at(s, offset, s->g->room + kept, n))
            return false;
        if (!each(ctx, s->g->room, kept + n))
            return true;
        offset += n;
        size -= n;
        n += kept;
        kept = n < OVERLAP ? n : OVERLAP;
        memmove(s->g->room, s->g->room + n - kept, kept);
    }
    return true;
}

struct names {
    bool cudnn, dlopen;
};

static bool see_names(void *ctx, const unsigned char *p, size_t n) {
    static const char opens[] = "\0dlopen"; /* with the NUL behind: that very name */
    static const char function[] = "\0cudnn";
    struct names *names = ctx;

    /* Not where it stands within a name of C++. */
    names->cudnn =
        memmem(p, n, function, sizeof(function) - 1) || memmem(p, n, STEM, sizeof(STEM) - 1);
    names->dlopen = names->dlopen || memmem(p, n, opens, sizeof(opens)) != NULL;
    return !names->cudnn;
}

static void add_constant(struct elf_prescan *g, const char *name) {
    for (size_t i = 0; i < g->names; i++)
        if (strcmp(g->name[i].text, name) == 0) {
            g->knows_declared |= g->name[i].priority != WC_priority_UNKNOWN;
            return;
        }
    g->is_command = g->is_command || strcmp(name, ELF_PRESCAN_OF_COMMAND) == 0;
    if (g->is_command)
        g->names = 0;
    else
        add_name(g, name, WC_priority_UNKNOWN, false);
}

/* The whole of a constant is its name: "libcudnn.so.9", not the text of a message, nor a format. */
static bool see_constants(void *ctx, const unsigned char *p, size_t n) {
    struct elf_prescan *g = ctx;
    const unsigned char *at = p;

    while ((at = memmem(at, n - (size_t)(at - p), OF_NVIDIA, sizeof(OF_NVIDIA) - 1))) {
        size_t room = n - (size_t)(at - p), length = strnlen((const char *)at, room);
        char name[sizeof(g->name[0].text)];
        if (length < sizeof(name) && length < room && (at == p || at[-1] == '\0') &&
            !memchr(at, '%', length)) {
            memcpy(name, at, length + 1);
            const int32_t cuda = wc_name_cuda(name);
            if (cuda > 0)
                g->cuda = !g->cuda || g->cuda == cuda ? cuda : -1;
            add_constant(g, name);
        }
        at++;
    }
    return true;
}

/* Sections of constants, so that neither code nor GPU code is read. False: it has none, or they
 * cannot be read. */
static bool search_sections(const struct prescan *s, uint64_t *most) {
    Elf64_Ehdr e;
    Elf64_Shdr h;
    bool any = false;

    if (!read_at(s, 0, &e, sizeof(e)) || e.e_shentsize != sizeof(h) || e.e_shstrndx >= e.e_shnum)
        return false;
    OWNED char *headers = must_allocate(e.e_shnum * sizeof(h));
    if (!read_at(s, e.e_shoff, headers, e.e_shnum * sizeof(h)))
        return false;
    memcpy(&h, headers + e.e_shstrndx * sizeof(h), sizeof(h));
    const size_t n = h.sh_size < SECTION_NAMES_MOST ? (size_t)h.sh_size : SECTION_NAMES_MOST;
    OWNED char *names = must_allocate(n + 1);
    if (!read_at(s, h.sh_offset, names, n))
        return false;
    for (size_t i = 0; i<e.e_shnum && * most> 0; i++) {
        memcpy(&h, headers + i * sizeof(h), sizeof(h));
        if (h.sh_type != SHT_PROGBITS || (h.sh_flags & (SHF_ALLOC | SHF_WRITE)) != SHF_ALLOC ||
            h.sh_name >= n || !wc_str_starts(names + h.sh_name, ".rodata"))
            continue;
        const uint64_t size = h.sh_size < *most ? h.sh_size : *most;
        *most -= size;
        any = read_pieces(s, h.sh_offset, size, see_constants, s->g) || any;
    }
    return any;
}

static void search_constants(const struct prescan *s, uint64_t most) {
    if (search_sections(s, &most))
        return;
    for (size_t i = 0; i < s->segments && most > 0; i++) {
        const Elf64_Phdr *g = &s->segment[i];
        uint64_t n = g->p_filesz < most ? g->p_filesz : most;
        if (g->p_flags & PF_W)
            continue;
        most -= n;
        read_pieces(s, g->p_offset, n, see_constants, s->g);
    }
}

void elf_prescan_constants(struct elf_prescan *g, int fd, uint64_t size, uint64_t most) {
    struct prescan s = {.g = g, .fd = fd, .size = size};

    if (read_headers(&s) == ELF_PRESCAN_NAMES)
        search_constants(&s, most);
}

enum elf_prescan_answer elf_prescan_at(struct elf_prescan *g, int fd, uint64_t size, bool all) {
    struct prescan s = {.g = g, .fd = fd, .size = size};
    enum elf_prescan_answer answer = read_headers(&s);
    struct names names = {false, false};
    uint64_t offset, length;

    if (answer != ELF_PRESCAN_NAMES || !s.dynamic_size)
        return answer == ELF_PRESCAN_NAMES ? ELF_PRESCAN_NOTHING : answer;
    if (find_strings(&s, &offset, &length) && length > STRINGS_MOST)
        return ELF_PRESCAN_NAMES;
    if (!length || !read_pieces(&s, offset, length, see_names, &names))
        return damaged(g, "its dynamic section is damaged, or reaches beyond its end");
    if (names.cudnn)
        return ELF_PRESCAN_NAMES;
    if (names.dlopen && (size <= ELF_PRESCAN_CONSTANTS_MOST || all))
        search_constants(&s, size);
    return g->names > 0 && g->opens ? ELF_PRESCAN_OPENS : ELF_PRESCAN_NOTHING;
}

void elf_prescan_begin(struct elf_prescan *g) {
    memset(g, 0, sizeof(*g));
    g->room = must_allocate(ROOM);
}

void elf_prescan_end(struct elf_prescan *g) {
    free(g->room);
}
