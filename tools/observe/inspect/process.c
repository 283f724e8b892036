/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect.h"

#include <argz.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- what is mapped: fs/proc/task_mmu.c of the kernel, show_map_vma ---- */

#define DELETED " (deleted)"
#define NEWLINE "\\012"

/* "START-END rwxp OFFSET MAJOR:MINOR INODE   /path" */
static bool read_line(const char *line, struct mapping *m) {
    unsigned high, low;
    char rights[4];
    int n = 0;

    errno = 0; /* of a number that is too large; NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4c %" SCNx64 " %x:%x %" SCNu64 "%n", &m->start,
               &m->end, rights, &m->offset, &high, &low, &m->inode, &n) != 7 ||
        errno != 0 || m->end <= m->start || !strchr(" ", line[n]))
        return false;
    m->executable = rights[2] == 'x';
    m->device = makedev(high, low);
    line += n + strspn(line + n, " ");
    m->path = *line == '/' ? must_copy(line) : NULL; /* names in brackets are none of files */
    return m->path != NULL;
}

void maps_read(struct maps *m, const char *text, size_t n) {
    struct mapping one;

    for (const char *from = text, *end = text + n, *stop; from < end; from = stop + 1) {
        stop = memchr(from, '\n', (size_t)(end - from));
        stop = stop ? stop : end;
        OWNED char *line = must_format("%.*s", (int)(stop - from), from);
        if (!memchr(from, '\0', (size_t)(stop - from)) && read_line(line, &one))
            *MUST_ADD(m->p, m->n) = one;
    }
}

void maps_end(struct maps *m) {
    for (size_t i = 0; i < m->n; i++)
        free(m->p[i].path);
    free(m->p);
    *m = (struct maps){NULL, 0};
}

bool maps_same(const struct maps *a, const struct maps *b) {
    bool same = a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++)
        same = a->p[i].start == b->p[i].start && a->p[i].offset == b->p[i].offset &&
               a->p[i].inode == b->p[i].inode && strcmp(a->p[i].path, b->p[i].path) == 0;
    return same;
}

/* ---- names ---- */

size_t maps_names(const char *path, char *name[MAPS_NAMES], bool gone[MAPS_NAMES]) {
    size_t n = 0, length = strlen(path), tail = strlen(DELETED);

    gone[n] = false;
    name[n++] = must_copy(path);
    if (length > tail && strcmp(path + length - tail, DELETED) == 0) {
        gone[n] = true;
        name[n++] = must_format("%.*s", (int)(length - tail), path);
    }
    for (size_t i = 0, plain = n; i < plain && strstr(path, NEWLINE); i++) {
        char *to = name[n] = must_copy(name[i]);

        gone[n++] = gone[i];
        for (const char *from = name[i]; *from; to++) {
            const bool is_escaped = wc_str_starts(from, NEWLINE);

            *to = is_escaped ? '\n' : *from;
            from += is_escaped ? strlen(NEWLINE) : 1;
        }
        *to = '\0';
    }
    return n;
}

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD of the kernel's include/linux/sched.h */
#define TEXT_MOST ((size_t)64 << 20)

/* ---- its files ---- */

/* A path of the kernel's as one below the process's root. The kernel's begin at our root, else at
 * the top of the process's mount namespace: either way p->root begins there, too. */
static const char *process_path(const struct process *p, const char *path) {
    size_t n = strlen(p->root);

    return n > 0 && strncmp(path, p->root, n) == 0 && path[n] == '/' ? path + n : path;
}

/* ---- texts of /proc ---- */

/* Of this very process, whatever has its number by now. */
static char *path_in(const struct process *p, const char *name) {
    return must_format("/proc/self/fd/%d/%s", p->handle, name);
}

static char *read_file(const struct process *p, const char *name, size_t *n) {
    OWNED char *path = path_in(p, name);

    return disk_text(path, TEXT_MOST, n);
}

static char *read_link(const struct process *p, const char *name) {
    OWNED char *path = path_in(p, name);

    return disk_link(path);
}

static bool is_same(const struct process *p, const char *name) {
    OWNED char *own = must_format("/proc/self/%s", name), *its = path_in(p, name);

    return wc_is_same_file(&disk_files, own, its);
}

/* ---- may it be looked at? ---- */

/* By errno. */
static enum process_state refused(char **trouble) {
    *trouble =
        must_copy(errno == EACCES || errno == EPERM
                      ? "may not be looked at: it is another user's, or protected; try as root"
                  : errno == ESRCH || errno == ENOENT ? "it ended while it was looked at"
                                                      : strerror(errno));
    return PROCESS_UNREADABLE;
}

static enum process_state empty(char **trouble, const char *why) {
    *trouble = must_copy(why);
    return PROCESS_EMPTY;
}

static enum process_state read_state(struct process *p, char **trouble) {
    OWNED char *stat = read_file(p, "stat", NULL);

    if (!stat)
        return refused(trouble);
    p->about.r.parent_pid = strtoll(wc_stat_field(stat, 4), NULL, 10);
    p->about.r.start_ticks = wc_start_ticks(stat);
    p->about.r.forked = wc_is_forked(stat);
    if (strchr("ZXx", *wc_stat_field(stat, 3)))
        return empty(trouble, "it has ended: what is left is its status, for its parent to fetch");
    return strtoull(wc_stat_field(stat, 9), NULL, 10) & KERNEL_THREAD
               ? empty(trouble, "it is a thread of the kernel")
               : PROCESS_READ;
}

static bool read_maps(struct process *p) {
    size_t n;
    OWNED char *text = read_file(p, "maps", &n);

    if (!text)
        return false;
    maps_end(&p->maps);
    maps_read(&p->maps, text, n);
    return true;
}

/* Of another class or machine nothing could be understood; what qemu runs is a program of ours. */
static const char *foreign(const struct process *p) {
    OWNED_FD int fd = openat(p->handle, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf64_Ehdr e;

    if (fd < 0 || pread(fd, &e, sizeof(e), 0) != sizeof(e))
        return NULL;
    if (e.e_ident[EI_CLASS] != ELFCLASS64)
        return "its program is a 32-bit one";
    return e.e_machine != OWN_MACHINE ? "its program is for another architecture" : NULL;
}

static enum process_state read_all(struct process *p, char **trouble) {
    size_t bytes;
    const char *why;

    OWNED char *root = must_format("%s/root", p->directory), *place = read_link(p, "root");
    if (is_same(p, "ns/uts") && uname(&p->host) == 0) /* that it has, too */
        p->about.r.node = p->host.nodename;
    p->same_mounts = is_same(p, "ns/mnt");
    p->root = must_copy(place && strcmp(place, "/") != 0 ? place : "");
    /* Of a root that we are outside of, being in a chroot, "/" is the name, too. */
    disk_begin(&p->disk, p->same_mounts && !p->root[0] && is_same(p, "root") ? NULL : root);
    if (!read_maps(p))
        return refused(trouble);
    if (p->maps.n == 0)
        return empty(trouble, "nothing is mapped in it: it is about to end");
    if ((why = foreign(p)))
        return empty(trouble, why);
    p->about.r.executable = read_link(p, "exe");
    p->about.r.directory = read_link(p, "cwd");
    p->disk.directory = p->about.r.directory ? process_path(p, p->about.r.directory) : "";
    p->environment_text = read_file(p, "environ", &bytes);
    bytes += bytes && p->environment_text[bytes - 1]; /* a process may write over its end */
    p->environment =
        must_allocate((argz_count(p->environment_text, bytes) + 1) * sizeof(*p->environment));
    argz_extract(p->environment_text, bytes, p->environment);
    p->about.environment = (const char *const *)p->environment;
    p->about.arguments = read_file(p, "cmdline", &p->about.arguments_size);
    p->auxv = (void *)read_file(p, "auxv", &bytes);
    p->auxv_count = bytes / sizeof(*p->auxv);
    p->memory = openat(p->handle, "mem", O_RDONLY | O_CLOEXEC);
    return PROCESS_READ;
}

enum process_state process_begin(struct process *p, int64_t pid, char **trouble) {
    memset(p, 0, sizeof(*p));
    p->memory = -1;
    p->about.r.parent_pid = p->about.r.start_ticks = p->about.r.run_pid = WC_NULL;
    p->directory = must_format("/proc/%lld", (long long)pid);
    p->handle = open(p->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->handle < 0) {
        *trouble =
            must_copy(access("/proc/self", F_OK) == 0 ? "no such process" : "/proc is not mounted");
        return PROCESS_UNREADABLE;
    }
    enum process_state state = read_state(p, trouble);
    return state == PROCESS_READ ? read_all(p, trouble) : state;
}

void process_end(struct process *p) {
    fd_end(&p->handle);
    fd_end(&p->memory);
    if (p->disk.root) /* it was begun */
        disk_end(&p->disk);
    maps_end(&p->maps);
    free(p->directory);
    free(p->root);
    free((char *)p->about.r.executable);
    free((char *)p->about.r.directory);
    free(p->environment);
    free(p->environment_text);
    free((char *)p->about.arguments);
    free(p->auxv);
}

bool process_is_as_it_was(const struct process *p) {
    struct process now = {.handle = p->handle};
    bool same = read_maps(&now) && maps_same(&p->maps, &now.maps);

    maps_end(&now.maps);
    return same;
}

/* ---- its memory ---- */

static size_t read_some(const struct process *p, uint64_t address, void *to, size_t n) {
    return p->memory >= 0 && address <= INT64_MAX ? below_read(p->memory, address, to, n) : 0;
}

bool process_read(const void *process, uint64_t address, void *to, size_t n) {
    return read_some(process, address, to, n) == n;
}

uint64_t process_auxv(const struct process *p, uint64_t type) {
    const Elf64_auxv_t *a = WC_FIRST(one, WC_ITEMS(p->auxv, p->auxv_count), one->a_type == type);

    return a ? a->a_un.a_val : 0;
}

/* ---- its ELF objects ---- */

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

    return wc_name_fits(name, m->library->path, e ? e->soname : NULL);
}

/* ---- its file ---- */

/* File systems whose stat makes up devices, of which /proc/PID/maps knows nothing. Elsewhere
 * another device means another file, by chance of the same number: copies on two tmpfs have them.
 */
static bool has_two_devices(const struct process *p, const char *path) {
    static const uint32_t types[] = {0x794c7630 /* overlayfs, where the kernel is old */,
                                     0x9123683e /* btrfs */, 0x00c36400 /* Ceph */,
                                     0x61756673 /* aufs */};
    struct statfs system = {.f_type = 0};
    struct stat facts;
    OWNED_FD int fd = disk_open(&p->disk, path, &facts);

    if (fd >= 0)
        fstatfs(fd, &system);
    return WC_ANY(type, WC_ROWS(types), *type == (uint32_t)system.f_type);
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
        best = found || (gone[i] && !gone[best]) ? i : best;
    }
    m->file = found        ? PROCESS_LIBRARY_FILE
              : gone[best] ? PROCESS_LIBRARY_GONE
                           : PROCESS_LIBRARY_UNREACHED;
    m->path = heap_copy(&list->memory, process_path(p, name[best]));
    for (size_t i = 0; i < n; i++)
        free(name[i]);
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
                  m->executable && m->inode == first->inode && m->device == first->device);
}

static void process_library_free(struct process_library *m) {
    elf_file_close(m->elf_file);
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
    const struct elf_file_memory memory = {.start = first->start,
                                           .end = first->end,
                                           .device = (int64_t)first->device,
                                           .inode = (int64_t)first->inode,
                                           .read = process_read,
                                           .owner = p};
    struct process_library *m = must_allocate(sizeof(*m));

    m->first = first;
    m->executable = has_code(&p->maps, first);
    find_file(list, p, m);
    m->elf_file = m->file == PROCESS_LIBRARY_FILE
                      ? elf_file_open(&p->disk, m->path, false)
                      : elf_file_open_memory(&p->disk, m->path, &memory);
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
    WC_EACH(first, p->maps) {
        const struct process_library *last = list->n > 0 ? list->p[list->n - 1] : NULL;
        const bool is_within_last = last && first->start < last->high &&
                                    last->first->inode == first->inode &&
                                    last->first->device == first->device;
        struct process_library *m = NULL;
        if (first->offset == 0 && first->inode && !is_within_last &&
            (has_code(&p->maps, first) || wc_name_kind_of(first->path) != WC_NAME_OTHER))
            m = read_one(list, p, first);
        if (m)
            *MUST_ADD(list->p, list->n) = m;
    }
}

/* ---- the loader's list ---- */

static void read_link_map(struct process_libraries *list, const struct process *p, uint64_t first,
                          size_t *place) {
    char name[PATH_MAX] = "";
    struct link_map at;

    for (uint64_t next = first; next && *place < LIST_MOST; next = (uintptr_t)at.l_next) {
        if (!process_read(p, next, &at, sizeof(at)))
            return;
        struct process_library *m = process_library_at(list, (uintptr_t)at.l_ld);
        ++*place;
        if (!m || m->place)
            continue;
        m->place = *place;
        /* What is after the page of a name may not be there. */
        const size_t n = read_some(p, (uintptr_t)at.l_name, name, sizeof(name));
        if (!memchr(name, '\0', n) || !name[0])
            continue;
        m->library->path = heap_copy(&list->memory, name);
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
        if (!process_read(p, address, &debug.first, sizeof(debug.first)) ||
            (debug.first.r_version >= 2 && !process_read(p, address, &debug, sizeof(debug))))
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
                        const char *name) {
    EACH_POINTER(m, list->p, list->n) {
        /* What an object needs is appended after it. Without an order only one that needs it is
         * sure. */
        const bool may = by != m && (!list->in_order || (by->place && by->place < m->place));
        if (m->program || !may || !process_library_answers(m, name))
            continue;
        if (!m->needed) {
            m->asked_by = by;
            m->library->asked_how = WC_operation_NEEDED;
            m->library->asked_name = name;
        } else if (m->asked_by != by && !list->in_order) {
            m->asked_by = NULL;
        }
        m->needed = true;
    }
}

void process_library_read(struct process_libraries *list, const struct process *p) {
    const char *name;

    *list = (struct process_libraries){.memory = HEAP_ARENA(list->memory)};
    read_objects(list, p);
    read_list(list, p);
    /* Where the loader's list cannot be read, the program is what /proc says. */
    for (size_t i = 0; i < list->n && p->about.r.executable && !process_library_program(list); i++)
        list->p[i]->program = strcmp(list->p[i]->path, process_path(p, p->about.r.executable)) == 0;
    SORT(*list, by_place);
    EACH_POINTER(m, list->p, list->n) {
        const struct wc_elf_image *e = m->library->image;
        for (size_t k = 0; e && (name = wc_elf_needed(e, k)); k++)
            note_needed(list, m, name);
    }
    EACH_POINTER(m, list->p, list->n) {
        m->search.path = m->library->path;
        m->search.origin =
            wc_search_origin(&list->memory.arena, m->search.path, p->about.r.directory);
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
