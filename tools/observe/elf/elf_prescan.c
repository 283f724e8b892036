/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_prescan.h"

#include <elf.h>
#include <jansson.h>
#include <string.h>
#include <sys/param.h>

#include "core/elf/elf_image.h"
#include "core/names/names.h"

#define STEM "libcudnn"   /* with which names of cuDNN's libraries begin */
#define OF_NVIDIA "libcu" /* ... and most of CUDA's */
/* Of names; with more, to look some up is cheaper. */
#define STRINGS_MOST ((uint64_t)16 << 20)
#define NOTES_MOST ((size_t)64 << 10) /* bytes of one segment of notes */

/* n bytes of the file. NULL: it has not that many there. */
static const unsigned char *bytes_at(const struct wc_elf_image *e, uint64_t offset, uint64_t n) {
    return offset <= e->file_size && n <= e->file_size - offset ? e->file + offset : NULL;
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

static void read_notes(struct elf_prescan *g, const struct wc_elf_image *e, const Elf64_Phdr *p) {
    size_t n = p->p_filesz < NOTES_MOST ? (size_t)p->p_filesz : NOTES_MOST;
    struct wc_elf_notes notes = {bytes_at(e, p->p_offset, n), n, p->p_align};
    const unsigned char *text;

    while (notes.at && (text = wc_elf_next_note(&notes, "FDO", 0x407c0c0a, &n))) {
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
    g->damaged_note |= notes.at && memmem(notes.at, notes.n, STEM, sizeof(STEM) - 1);
}

static void begin(struct elf_prescan *g, const struct wc_elf_image *e) {
    Elf64_Ehdr h = {.e_phnum = 0};
    Elf64_Phdr p;

    *g = (struct elf_prescan){.names = 0};
    if (e->file)
        memcpy(&h, e->file, sizeof(h));
    for (size_t i = 0; i < h.e_phnum; i++) {
        memcpy(&p, e->file + h.e_phoff + i * sizeof(p), sizeof(p));
        if (p.p_type == PT_NOTE)
            read_notes(g, e, &p);
    }
    if (g->damaged_note)
        g->names = 0;
}

/* ---- constants ---- */

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
static void see_constants(struct elf_prescan *g, const unsigned char *p, size_t n) {
    const unsigned char *at = p;

    for (; (at = memmem(at, n - (size_t)(at - p), OF_NVIDIA, sizeof(OF_NVIDIA) - 1)); at++) {
        size_t room = n - (size_t)(at - p), length = strnlen((const char *)at, room);
        char name[sizeof(g->name[0].text)];
        if (length >= sizeof(name) || length == room || (at > p && at[-1] != '\0') ||
            memchr(at, '%', length))
            continue;
        memcpy(name, at, length + 1);
        const int32_t cuda = wc_name_cuda(name);
        if (cuda > 0)
            g->cuda = !g->cuda || g->cuda == cuda ? cuda : -1;
        add_constant(g, name);
    }
}

/* Sections of constants, so that neither code nor GPU code is read. False: it has none, or they
 * cannot be read. */
static bool search_sections(struct elf_prescan *g, const struct wc_elf_image *e, uint64_t *most) {
    Elf64_Ehdr h;
    Elf64_Shdr s;
    bool any = false;

    memcpy(&h, e->file, sizeof(h));
    const unsigned char *headers = bytes_at(e, h.e_shoff, h.e_shnum * sizeof(s));
    if (!headers || h.e_shentsize != sizeof(s) || h.e_shstrndx >= h.e_shnum)
        return false;
    memcpy(&s, headers + h.e_shstrndx * sizeof(s), sizeof(s));
    const char *names = (const char *)bytes_at(e, s.sh_offset, s.sh_size);
    const uint64_t n = names ? s.sh_size : 0;
    for (size_t i = 0; i<h.e_shnum && * most> 0; i++) {
        memcpy(&s, headers + i * sizeof(s), sizeof(s));
        if (s.sh_type != SHT_PROGBITS || (s.sh_flags & (SHF_ALLOC | SHF_WRITE)) != SHF_ALLOC ||
            s.sh_name >= n || strncmp(names + s.sh_name, ".rodata", MIN(7, n - s.sh_name)) != 0)
            continue;
        const uint64_t size = MIN(s.sh_size, *most);
        const unsigned char *bytes = bytes_at(e, s.sh_offset, size);
        *most -= size;
        if (bytes)
            see_constants(g, bytes, size);
        any = any || bytes;
    }
    return any;
}

static void search_constants(struct elf_prescan *g, const struct wc_elf_image *e, uint64_t most) {
    if (!e->file || search_sections(g, e, &most))
        return;
    for (size_t i = 0; i < e->loads && most > 0; i++) {
        const uint64_t n = MIN(e->load[i].filesz, most);
        if (e->load[i].flags & PF_W)
            continue;
        most -= n;
        see_constants(g, e->load[i].at, n);
    }
}

void elf_prescan_constants(struct elf_prescan *g, const struct elf_file *l, uint64_t most) {
    begin(g, &l->image);
    search_constants(g, &l->image, most);
}

enum elf_prescan_answer elf_prescan_at(struct elf_prescan *g, const struct elf_file *l, bool all) {
    static const char opens[] = "\0dlopen";   /* with the NUL behind: that very name */
    static const char function[] = "\0cudnn"; /* not where it stands within a name of C++ */
    const struct wc_elf_image *e = &l->image;
    const char *strings = e->string_table;

    begin(g, e);
    if (l->error == WC_ELF_TRUNCATED)
        g->why = "it is cut short";
    else if (l->error == WC_ELF_MALFORMED || (l->error == WC_ELF_OK && !strings))
        g->why = "its headers or its dynamic section are damaged";
    if (g->why || l->error != WC_ELF_OK) /* text that a linker reads, a pointer to a large file */
        return g->why ? ELF_PRESCAN_DAMAGED : ELF_PRESCAN_NOTHING;
    if (e->strsz > STRINGS_MOST || memmem(strings, e->strsz, function, sizeof(function) - 1) ||
        memmem(strings, e->strsz, STEM, sizeof(STEM) - 1))
        return ELF_PRESCAN_NAMES;
    if (memmem(strings, e->strsz, opens, sizeof(opens)) &&
        (e->file_size <= ELF_PRESCAN_CONSTANTS_MOST || all))
        search_constants(g, e, e->file_size);
    return g->names > 0 && g->opens ? ELF_PRESCAN_OPENS : ELF_PRESCAN_NOTHING;
}
