/* SPDX-License-Identifier: Apache-2.0 */
#include "process_library.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define HEADERS_MOST 64
#define LIST_MOST 65536 /* of the loader's list: it may be damaged, and has no end then */
#define PAGE_BITS 12    /* segments begin at pages, of whatever size: none is smaller */

struct process_library *process_library_at(const struct process_libraries *list, uint64_t address) {
    struct process_library *const *m =
        WC_FIRST(one, *list, address >= (*one)->low && address < (*one)->high);

    return m ? *m : NULL;
}

struct process_library *process_library_program(const struct process_libraries *list) {
    struct process_library *const *m = WC_FIRST(one, *list, (*one)->program);

    return m ? *m : NULL;
}

bool process_library_answers(const struct process_library *m, const char *name) {
    const struct wc_elf_image *e = m->library->image;

    return wc_name_fits(name, m->library->path, e ? wc_elf_soname(e) : NULL);
}

/* ---- its file ---- */

/* File systems whose stat makes up devices, of which /proc/PID/maps knows nothing. Elsewhere
 * another device means another file, by chance of the same number: copies on two tmpfs have them.
 */
static bool has_two_devices(const struct process *p, const char *path) {
    struct statfs system = {.f_type = 0};
    struct stat facts;
    int fd = disk_open(&p->disk, path, &facts);

    if (fd >= 0) {
        fstatfs(fd, &system);
        close(fd);
    }
    switch ((uint32_t)system.f_type) {
    case 0x794c7630: /* overlayfs, where the kernel is old */
    case 0x9123683e: /* btrfs */
    case 0x00c36400: /* Ceph */
    case 0x61756673: /* aufs */
        return true;
    default:
        return false;
    }
}

/* Which reading of the path is right: the one whose file is mapped; else one by which it is gone.
 */
static void find_file(struct process_libraries *list, const struct process *p,
                      struct process_library *m) {
    char *name[MAPS_NAMES];
    bool gone[MAPS_NAMES];
    size_t n = maps_names(m->first->path, name, gone), best = 0;
    struct wc_file_stat facts;
    bool found = false;

    for (size_t i = 0; i < n && !found; i++) {
        const char *path = process_path(p, name[i]);

        found = !gone[i] && p->disk.files.facts(p->disk.files.ctx, path, &facts) && facts.regular &&
                facts.inode == m->first->inode &&
                (facts.device == m->first->device || has_two_devices(p, path));
        best = found ? i : best;
    }
    for (size_t i = 0; i < n && !found; i++)
        if (gone[i] && !gone[best])
            best = i;
    m->file = found        ? PROCESS_LIBRARY_FILE
              : gone[best] ? PROCESS_LIBRARY_GONE
                           : PROCESS_LIBRARY_UNREACHED;
    m->path = wc_arena_string(&list->memory.arena, process_path(p, name[best]));
    for (size_t i = 0; i < n; i++)
        free(name[i]);
}

/* ---- its memory ---- */

static bool read_memory(const void *process, uint64_t address, void *to, size_t n) {
    return process_read(process, address, to, n);
}

/* NULL: its headers cannot be read. The load bias is that of the segment that the file begins with.
 */
static struct elf_file *look_at_memory(const struct process *p, struct process_library *m) {
    const uint64_t in_page = ((uint64_t)1 << PAGE_BITS) - 1, start = m->first->start;
    struct elf_file_memory memory = {.device = (int64_t)m->first->device,
                                     .inode = (int64_t)m->first->inode,
                                     .read = read_memory,
                                     .owner = p};
    Elf64_Ehdr e;

    if (!process_read(p, start, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB ||
        e.e_phentsize != sizeof(Elf64_Phdr) || e.e_phnum > HEADERS_MOST ||
        e.e_phoff > m->first->end - start)
        return NULL;
    m->headers = must_allocate((e.e_phnum + 1) * sizeof(*m->headers));
    if (!process_read(p, start + e.e_phoff, m->headers, e.e_phnum * sizeof(*m->headers)))
        return NULL;
    memory.headers = m->headers;
    memory.header_count = e.e_phnum;
    for (const Elf64_Phdr *h = m->headers; h < m->headers + e.e_phnum; h++)
        if (h->p_type == PT_LOAD && (h->p_offset & ~in_page) == 0) {
            memory.base = start - (h->p_vaddr - h->p_offset);
            return elf_file_open_memory(&p->disk, m->path, &memory);
        }
    return NULL;
}

/* ---- where it is ---- */

static void set_range(struct process_library *m) {
    const struct wc_elf_image *e = m->library->image;
    const uint64_t in_page = ((uint64_t)1 << PAGE_BITS) - 1;
    uint64_t low = UINT64_MAX, high = 0, *base = &m->library->base;

    *base = 0;
    m->low = m->first->start;
    m->high = m->first->end;
    for (size_t i = 0; e && i < e->loads; i++) {
        uint64_t vaddr = e->load[i].vaddr;
        if ((e->load[i].offset & ~in_page) == 0 && !*base)
            *base = m->first->start - (vaddr - e->load[i].offset);
        low = vaddr < low ? vaddr : low;
        high = vaddr + e->load[i].memsz > high ? vaddr + e->load[i].memsz : high;
    }
    if (high > low && *base + high > m->low) {
        m->low = *base + low < m->low ? *base + low : m->low;
        m->high = *base + high;
    }
}

/* A library that is only read as a file has no code mapped. */
static bool has_code(const struct maps *maps, const struct mapping *first) {
    return WC_ANY(m, *maps,
                  m->executable && m->path && m->inode == first->inode &&
                      m->device == first->device);
}

static void process_library_free(struct process_library *m) {
    elf_file_close(m->elf_file);
    free(m->headers);
    free(m);
}

/* A name says nothing of others than cuDNN's and CUDA's, the bytes of all. */
static void read_name(struct process_library *m, const char *name) {
    if (!m->elf_file) {
        m->library->name = wc_name_read(name);
        m->library->role = wc_library_role(m->library);
    } else if (wc_name_kind_of(name) != WC_NAME_OTHER) {
        wc_library_read(m->library, &m->elf_file->image, name);
    }
}

/* NULL: it is not an ELF object. */
static struct process_library *read_one(struct process_libraries *list, const struct process *p,
                                        const struct mapping *first) {
    struct process_library *m = must_allocate(sizeof(*m));

    m->first = first;
    m->executable = has_code(&p->maps, first);
    find_file(list, p, m);
    m->elf_file = m->file == PROCESS_LIBRARY_FILE ? elf_file_open(&p->disk, m->path, false)
                                                  : look_at_memory(p, m);
    if (m->elf_file && m->elf_file->error == WC_ELF_NOT_ELF) {
        process_library_free(m);
        return NULL;
    }
    if (m->elf_file) {
        m->library = &m->elf_file->library;
    } else {
        m->library = &m->unread;
        wc_library_begin(m->library, m->path);
        m->library->real_path = m->path;
        m->library->device = (int64_t)first->device;
        m->library->inode = (int64_t)first->inode;
        read_name(m, m->path);
    }
    set_range(m);
    return m;
}

static void read_objects(struct process_libraries *list, const struct process *p) {
    for (size_t i = 0; i < p->maps.n; i++) {
        const struct mapping *first = &p->maps.p[i];
        const struct process_library *last = list->n > 0 ? list->p[list->n - 1] : NULL;
        const bool is_within_last = last && first->start < last->high &&
                                    last->first->inode == first->inode &&
                                    last->first->device == first->device;
        struct process_library *m = NULL;
        if (first->path && first->offset == 0 && first->inode && !is_within_last &&
            (has_code(&p->maps, first) || wc_name_kind_of(first->path) != WC_NAME_OTHER))
            m = read_one(list, p, first);
        if (m)
            *MUST_ADD(list->p, list->n) = m;
    }
}

/* ---- the loader's list ---- */

static void read_link_map(struct process_libraries *list, const struct process *p, uint64_t first,
                          size_t *place) {
    struct process_library *m;
    char name[PATH_MAX];
    struct link_map at;

    for (uint64_t next = first; next && *place < LIST_MOST; next = (uintptr_t)at.l_next) {
        if (!process_read(p, next, &at, sizeof(at)))
            return;
        m = process_library_at(list, (uintptr_t)at.l_ld);
        ++*place;
        if (!m || m->place)
            continue;
        m->place = *place;
        if (!process_read_text(p, (uintptr_t)at.l_name, name, sizeof(name)) || !name[0])
            continue;
        m->library->path = wc_arena_string(&list->memory.arena, name);
        read_name(m, name); /* it was asked for as that */
    }
}

/* Further name spaces hang after the first one since glibc 2.35 (link.h, r_version 2). */
static void read_list(struct process_libraries *list, const struct process *p) {
    struct {
        struct r_debug first;
        uint64_t next;
    } debug;
    uint64_t address = 0;
    size_t place = 0;

    for (size_t i = 0; i < list->n && !address; i++) {
        const struct wc_library *l = list->p[i]->library;
        const struct wc_elf_image *e = l->image;
        Elf64_Dyn d;

        /* The object with a DT_DEBUG that the loader filled: the program, however it was started.
         */
        for (size_t k = 0; e && e->program && !address && k < e->dynamic_entries; k++)
            if (process_read(p, l->base + e->dynamic + k * sizeof(d), &d, sizeof(d)) &&
                d.d_tag == DT_DEBUG)
                address = d.d_un.d_ptr;
        list->p[i]->program = address != 0;
    }
    for (int spaces = 0; address && spaces < 64; spaces++, address = debug.next) {
        debug.next = 0;
        if (!process_read(p, address, &debug.first, sizeof(debug.first)))
            return;
        if (debug.first.r_version >= 2 && !process_read(p, address, &debug, sizeof(debug)))
            return;
        read_link_map(list, p, (uintptr_t)debug.first.r_map, &place);
    }
    list->in_order = place > 0;
}

/* What is not on the list stands after what is. */
WC_COMPARE(by_place, struct process_library *const,
           WC_ORDER((*x)->place - 1, (*y)->place - 1) ?: WC_ORDER((*x)->low, (*y)->low));

/* ---- which needs which ---- */

static void note_needed(struct process_libraries *list, struct process_library *by,
                        const char *name, bool *several) {
    for (size_t i = 0; i < list->n; i++) {
        struct process_library *m = list->p[i];
        /* What an object needs is appended after it. Without an order only one that needs it is
         * sure. */
        const bool may = by != m && (!list->in_order || (by->place && by->place < m->place));
        if (m->program || !may || !process_library_answers(m, name))
            continue;
        m->needed = true;
        if (m->asked_by && m->asked_by != by && !list->in_order)
            several[i] = true;
        if (m->asked_by)
            continue;
        m->asked_by = by;
        m->library->asked_how = WC_operation_NEEDED;
        m->library->asked_name = name;
    }
}

static void find_needed(struct process_libraries *list) {
    bool *several = must_allocate(list->n + 1);
    const char *name;

    for (size_t i = 0; i < list->n; i++) {
        const struct wc_elf_image *e = list->p[i]->library->image;
        for (size_t k = 0; e && (name = wc_elf_needed(e, k)); k++)
            note_needed(list, list->p[i], name, several);
    }
    for (size_t i = 0; i < list->n; i++)
        if (several[i])
            list->p[i]->asked_by = NULL;
    free(several);
}

void process_library_read(struct process_libraries *list, const struct process *p) {
    *list = (struct process_libraries){.p = NULL};
    heap_arena_begin(&list->memory);
    read_objects(list, p);
    read_list(list, p);
    /* Where the loader's list cannot be read, the program is what /proc says. */
    for (size_t i = 0; i < list->n && p->executable && !process_library_program(list); i++)
        list->p[i]->program = strcmp(list->p[i]->path, process_path(p, p->executable)) == 0;
    if (list->n > 0)
        qsort(list->p, list->n, sizeof(struct process_library *), by_place);
    find_needed(list);
    for (size_t i = 0; i < list->n; i++) {
        struct process_library *m = list->p[i];
        m->search.path = m->library->path;
        m->search.origin =
            wc_search_origin(&list->memory.arena, m->search.path, p->working_directory);
        m->search.is_program = m->program;
        m->search.loaded_by = m->asked_by ? &m->asked_by->search : NULL;
        if (m->library->image)
            wc_search_object_read(&m->search, m->library->image, &list->memory.arena);
    }
}

void process_library_end(struct process_libraries *list) {
    for (size_t i = 0; i < list->n; i++)
        process_library_free(list->p[i]);
    free(list->p);
    heap_arena_end(&list->memory);
}
