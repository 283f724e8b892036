/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two views of an ELF object, mapped and in a file: segments, header, notes.
 */
#include "elf_inside.h"

#define NOTE_BYTES 65536 /* of one PT_NOTE looked through for the build-id */

static void begin_image(struct wc_elf_image *e, uint64_t base, const void *bytes, size_t n,
                        wc_elf_fetch *fetch, void *owner) {
    wc_mem_set(e, 0, offsetof(struct wc_elf_image, load));
    e->base = base;
    e->file = bytes;
    e->file_size = n;
    e->fetch = fetch;
    e->fetch_owner = owner;
}

static bool add_segment(struct wc_elf_image *e, const Elf64_Phdr *p, const unsigned char *at,
                        uint64_t readable) {
    if (p->p_vaddr + p->p_memsz < p->p_vaddr)
        return false;
    if (!(p->p_flags & PF_R) || !readable || e->loads == WC_ELF_SEGMENTS)
        return true;
    e->load[e->loads++] = (struct wc_elf_segment){.vaddr = p->p_vaddr,
                                                  .memsz = p->p_memsz,
                                                  .offset = p->p_offset,
                                                  .filesz = p->p_filesz,
                                                  .at = at,
                                                  .readable = readable,
                                                  .flags = p->p_flags};
    return true;
}

static uint64_t aligned(uint64_t n, uint64_t to) {
    return (n + to - 1) & ~(to - 1);
}

const unsigned char *wc_elf_next_note(struct wc_elf_notes *rest, const char owner[4], uint32_t type,
                                      size_t *size) {
    const uint64_t pad = rest->align == 8 ? 8 : 4;

    while (rest->n >= sizeof(Elf64_Nhdr)) {
        const unsigned char *note = rest->at;
        const Elf64_Nhdr h = WC_LAX_AT(Elf64_Nhdr, note);
        const uint64_t desc = aligned(sizeof h + h.n_namesz, pad), end = desc + h.n_descsz;
        if (end > rest->n)
            break;
        rest->at += aligned(end, pad) < rest->n ? aligned(end, pad) : rest->n;
        rest->n -= (uint64_t)(rest->at - note);
        *size = h.n_descsz;
        if (h.n_type == type && h.n_namesz == 4 && wc_mem_compare(note + sizeof h, owner, 4) == 0)
            return note + desc;
    }
    return NULL;
}

static void read_build_id(struct wc_elf_image *e, const Elf64_Phdr *p) {
    const uint64_t room = wc_elf_room(e, p->p_vaddr), n = p->p_memsz < room ? p->p_memsz : room;
    struct wc_elf_notes notes = {.n = n < NOTE_BYTES ? n : NOTE_BYTES, .align = p->p_align};
    const unsigned char *id;
    size_t size;

    notes.at = notes.n ? wc_elf_at(e, p->p_vaddr, notes.n) : NULL;
    while (notes.at && !e->build_id_size &&
           (id = wc_elf_next_note(&notes, "GNU", NT_GNU_BUILD_ID, &size)))
        if (size <= sizeof e->build_id) {
            wc_mem_copy(e->build_id, id, size);
            e->build_id_size = size;
        }
}

/* All but PT_LOAD: these need the segments. */
static enum wc_elf_error read_rest(struct wc_elf_image *e, const void *phdrs, size_t phnum) {
    uint64_t dynamic = 0, size = 0;
    bool has_dynamic = false;
    for (size_t i = 0; i < phnum; i++) {
        const Elf64_Phdr p = WC_LAX_AT(Elf64_Phdr, (const unsigned char *)phdrs + i * sizeof p);
        if (p.p_type == PT_GNU_RELRO) {
            e->relro_vaddr = p.p_vaddr;
            e->relro_size = p.p_memsz;
        } else if (p.p_type == PT_INTERP && !e->interpreter_size) {
            e->interpreter = p.p_vaddr;
            e->interpreter_size = p.p_filesz;
        } else if (p.p_type == PT_NOTE && !e->build_id_size) {
            read_build_id(e, &p);
        } else if (p.p_type == PT_DYNAMIC) {
            has_dynamic = true;
            dynamic = p.p_vaddr;
            size = p.p_memsz;
        }
    }
    return has_dynamic ? wc_elf_read_dynamic(e, dynamic, size) : WC_ELF_NO_DYNAMIC;
}

/* at: where the byte of the link-time address 0 is, or would be. */
static enum wc_elf_error read_mapped(struct wc_elf_image *e, uintptr_t at, const Elf64_Phdr *phdr,
                                     size_t phnum) {
    for (size_t i = 0; i < phnum; i++)
        if (phdr[i].p_type == PT_LOAD &&
            !add_segment(e, &phdr[i], (const unsigned char *)(at + phdr[i].p_vaddr),
                         phdr[i].p_memsz))
            return WC_ELF_MALFORMED;
    for (size_t i = 0; i < e->loads && !e->machine; i++)
        if (e->load[i].offset == 0 && e->load[i].readable >= sizeof(Elf64_Ehdr) &&
            wc_elf_fetched(e, e->load[i].at, sizeof(Elf64_Ehdr)) &&
            wc_mem_compare(e->load[i].at, ELFMAG, SELFMAG) == 0)
            e->machine = WC_LAX_AT(Elf64_Ehdr, e->load[i].at).e_machine;
    return read_rest(e, phdr, phnum);
}

enum wc_elf_error wc_elf_from_memory(struct wc_elf_image *e, uint64_t base, const Elf64_Phdr *phdr,
                                     size_t phnum) {
    begin_image(e, base, NULL, 0, NULL, NULL);
    return read_mapped(e, (uintptr_t)base, phdr, phnum);
}

enum wc_elf_error wc_elf_from_elsewhere(struct wc_elf_image *e, uint64_t base,
                                        const Elf64_Phdr *phdr, size_t phnum, const void *bytes,
                                        uint64_t low, size_t n, wc_elf_fetch *fetch, void *owner) {
    begin_image(e, base, bytes, n, fetch, owner);
    for (size_t i = 0; i < phnum; i++)
        if (phdr[i].p_type == PT_LOAD && (phdr[i].p_vaddr < low || phdr[i].p_vaddr - low > n ||
                                          phdr[i].p_memsz > n - (phdr[i].p_vaddr - low)))
            return WC_ELF_MALFORMED;
    return read_mapped(e, (uintptr_t)bytes - low, phdr, phnum);
}

enum wc_elf_error wc_elf_from_pieces(struct wc_elf_image *e, const void *bytes, size_t n,
                                     wc_elf_fetch *fetch, void *owner) {
    const unsigned char *file = bytes;
    begin_image(e, 0, bytes, n, fetch, owner);
    if (n == 0)
        return WC_ELF_EMPTY;
    if (!wc_elf_fetched(e, file, n < sizeof(Elf64_Ehdr) ? n : sizeof(Elf64_Ehdr)))
        return WC_ELF_TRUNCATED;
    if (wc_mem_compare(file, ELFMAG, n < SELFMAG ? n : SELFMAG) != 0)
        return WC_ELF_NOT_ELF;
    if (n < EI_NIDENT)
        return WC_ELF_TRUNCATED;
    if (file[EI_CLASS] != ELFCLASS64)
        return WC_ELF_WRONG_CLASS;
    if (file[EI_DATA] != ELFDATA2LSB)
        return WC_ELF_WRONG_BYTE_ORDER;
    if (n < sizeof(Elf64_Ehdr))
        return WC_ELF_TRUNCATED;
    const Elf64_Ehdr h = WC_LAX_AT(Elf64_Ehdr, file);
    size_t size = h.e_phnum * sizeof(Elf64_Phdr);
    if (size && h.e_phentsize != sizeof(Elf64_Phdr))
        return WC_ELF_MALFORMED;
    if (h.e_phoff > n || size > n - h.e_phoff || !wc_elf_fetched(e, file + h.e_phoff, size))
        return WC_ELF_TRUNCATED;
    const unsigned char *phdrs = file + h.e_phoff;
    e->machine = h.e_machine;
    for (size_t i = 0; i < h.e_phnum; i++) {
        const Elf64_Phdr p = WC_LAX_AT(Elf64_Phdr, phdrs + i * sizeof p);
        if (p.p_type != PT_LOAD)
            continue;
        if (p.p_offset > n || p.p_filesz > n - p.p_offset)
            return WC_ELF_TRUNCATED;
        if (p.p_filesz > p.p_memsz || !add_segment(e, &p, file + p.p_offset, p.p_filesz))
            return WC_ELF_MALFORMED;
    }
    return read_rest(e, phdrs, h.e_phnum);
}
