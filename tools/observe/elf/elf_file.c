/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_file.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/elf/blocks.h"
#include "core/knowledge/frameworks.h"
#include "core/packages/identify.h"
#include "tools/util/memory.h"

#define HEADERS_MOST 64
#define BLOCK_BITS 14       /* of memory that is not ours */
#define PAGE ((size_t)4096) /* the smallest there is */
/* Nothing that core/ asks of a library is that much; a file without an end may be a trap. */
#define BYTES_MOST ((uint64_t)256 << 20)
#define SEARCH_LEAST ((uint64_t)1 << 20) /* what is asked for at once, and searched */

struct elf_file_contents {
    const struct disk *disk;
    struct elf_file_memory memory; /* where there is no file */
    uint64_t low;                  /* address of the first byte there */
    unsigned char *bytes;
    size_t size;
    uint64_t read;                   /* bytes so far */
    volatile sig_atomic_t damaged;   /* it is not any more what it was */
    struct elf_file_contents *older; /* of those that are mapped */
    struct wc_blocks blocks;
    struct wc_identity identity;
    char path[PATH_MAX], real_path[PATH_MAX], gpu_library[PATH_MAX];
};

static unsigned char scratch[72 << 10]; /* for what core/ asks */

static bool map(struct elf_file_contents *f, uint64_t size, int protection, int flags, int fd) {
    void *bytes = size > 0 && size <= SIZE_MAX / 2
                      ? mmap(NULL, (size_t)size, protection, MAP_PRIVATE | flags, fd, 0)
                      : MAP_FAILED;

    if (bytes == MAP_FAILED)
        return false;
    f->bytes = bytes;
    f->size = (size_t)size;
    return true;
}

/* ---- the bytes ---- */

/* By pages: between two segments some may be missing, of which nothing is asked for. */
static bool read_memory(void *contents, uint64_t from, uint64_t n) {
    struct elf_file_contents *f = contents;
    const struct elf_file_memory *m = &f->memory;
    bool some = false;

    f->read += n;
    if (f->read > BYTES_MOST)
        return false;
    if (m->read(m->owner, f->low + from, f->bytes + from, n))
        return true;
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = n - at < PAGE ? n - at : PAGE;
        some = m->read(m->owner, f->low + from + at, f->bytes + from + at, piece) || some;
    }
    return some;
}

static bool fetch_memory(void *contents, uint64_t offset, uint64_t n) {
    struct elf_file_contents *f = contents;

    f->damaged = !wc_blocks_fetch(&f->blocks, offset, n);
    return !f->damaged;
}

/* ---- a file, mapped ---- */

static struct elf_file_contents *mapped;

/* Truncating a file while it is read removes pages: they read as zero from then on, and
 * the file counts as damaged. Any other fault ends the command, as it would without this. */
static void lost_page(int signal, siginfo_t *info, void *context) {
    unsigned char *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
    struct elf_file_contents *f = mapped;

    (void)context;
    while (f && !(page >= f->bytes && page < f->bytes + f->size))
        f = f->older;
    if (f && mmap(page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
        f->damaged = true;
    else
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* What a search asks for is read through, and some files have no end. */
static bool fetch_file(void *owner, uint64_t offset, uint64_t n) {
    struct elf_file_contents *f = owner;

    (void)offset;
    if (n >= SEARCH_LEAST)
        f->read += n;
    return !f->damaged && n <= BYTES_MOST && f->read <= 4 * BYTES_MOST;
}

/* ---- opening ---- */

/* False: its headers cannot be read. The load bias is that of the segment that the file begins
 * with.
 */
static bool image_of_memory(struct elf_file *l) {
    struct elf_file_contents *f = l->contents;
    const struct elf_file_memory *m = &f->memory;
    const Elf64_Phdr *lowest = NULL, *first = NULL, *last = NULL;
    Elf64_Phdr headers[HEADERS_MOST];
    Elf64_Ehdr e;

    if (!m->read(m->owner, m->start, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB ||
        e.e_phentsize != sizeof(*headers) || e.e_phnum > HEADERS_MOST ||
        e.e_phoff > m->end - m->start ||
        !m->read(m->owner, m->start + e.e_phoff, headers, e.e_phnum * sizeof(*headers)))
        return false;
    for (const Elf64_Phdr *p = headers; p < headers + e.e_phnum; p++)
        if (p->p_type == PT_LOAD) {
            lowest = lowest ?: p;
            first = first || p->p_offset >= PAGE ? first : p;
            last = p;
        }
    if (!first)
        return false;
    const uint64_t base = m->start - (first->p_vaddr - first->p_offset);
    const uint64_t low = lowest->p_vaddr & ~(uint64_t)(PAGE - 1);
    const uint64_t high = last->p_vaddr + last->p_memsz;
    l->error = WC_ELF_MALFORMED;
    f->low = base + low;
    if (high <= low ||
        !map(f, high - low, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE, -1))
        return true;
    wc_blocks_begin(&f->blocks, high - low, BLOCK_BITS, read_memory, f);
    l->error = wc_elf_from_elsewhere(&l->image, base, headers, e.e_phnum, f->bytes, low, f->size,
                                     fetch_memory, f);
    return true;
}

void elf_file_read(struct elf_file *l, bool other) {
    struct wc_library *b = &l->library;

    if (l->error != WC_ELF_OK)
        memset(&l->image, 0, sizeof(l->image));
    else
        b->image = &l->image;
    if (!other) {
        wc_library_read(b, &l->image, b->path); /* as the loader knows it */
    } else {
        b->name = wc_name_read(b->path);
        if (b->name.kind == WC_NAME_OTHER)
            b->name = wc_name_read(l->image.soname);
        b->framework = wc_framework_of(wc_library_file(b));
    }
    if (b->name.kind == WC_NAME_OTHER && b->real_path)
        b->name = wc_name_read(b->real_path);
    b->role = wc_library_role(b);
}

static struct elf_file *new_file(const struct disk *disk, const char *path) {
    struct elf_file *l = must_allocate(sizeof(*l));

    l->contents = must_allocate(sizeof(*l->contents));
    l->contents->disk = disk;
    wc_library_begin(&l->library, stpcpy(l->contents->path, path) - strlen(path));
    return l;
}

struct elf_file *elf_file_open(const struct disk *disk, const char *path, bool other) {
    const struct wc_files *files = disk ? &disk->files : &disk_files;
    struct stat facts;
    OWNED_FD int fd = disk_open(disk, path, &facts);

    if (fd < 0)
        return NULL;
    const struct sigaction action = {.sa_sigaction = lost_page,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    struct elf_file *l = new_file(disk, path);
    struct elf_file_contents *f = l->contents;
    if (files->real_path(files->ctx, path, f->real_path, sizeof(f->real_path)))
        l->library.real_path = f->real_path;
    l->library.device = (int64_t)facts.st_dev;
    l->library.inode = (int64_t)facts.st_ino;
    l->library.size = facts.st_size;
    l->library.mtime = facts.st_mtime;
    l->error = facts.st_size > 0 ? WC_ELF_TRUNCATED : WC_ELF_EMPTY;
    if (map(f, (uint64_t)facts.st_size, PROT_READ, 0, fd)) {
        sigaction(SIGBUS, &action, NULL);
        f->older = mapped;
        mapped = f;
        l->error = wc_elf_from_pieces(&l->image, f->bytes, f->size, fetch_file, f);
    }
    elf_file_read(l, other);
    return l;
}

struct elf_file *elf_file_open_memory(const struct disk *disk, const char *path,
                                      const struct elf_file_memory *memory) {
    struct elf_file *l = new_file(disk, path);

    l->library.real_path = l->contents->path;
    l->library.device = memory->device;
    l->library.inode = memory->inode;
    l->contents->memory = *memory;
    if (!image_of_memory(l)) {
        elf_file_close(l);
        return NULL;
    }
    elf_file_read(l, false);
    return l;
}

void elf_file_close(struct elf_file *l) {
    struct elf_file_contents *f = l ? l->contents : NULL;

    if (!l)
        return;
    for (struct elf_file_contents **at = &mapped; *at; at = &(*at)->older)
        if (*at == f) {
            *at = f->older;
            break;
        }
    if (f->bytes)
        munmap(f->bytes, f->size);
    free(f);
    free(l);
}

/* ---- what it is ---- */

void elf_file_identify(struct elf_file *l, struct wc_library *out) {
    struct elf_file_contents *f = l->contents;
    struct wc_library *b = &l->library;
    struct elf_reader reader;

    if (f->damaged)
        b->image = NULL;
    if (!b->identity) {
        elf_reader_begin(&reader, f->disk);
        wc_library_identify(b, &reader.reader, &f->identity);
        if (f->memory.read) { /* what is next to it now says nothing about its neighbours then */
            f->identity.installation_version[0] = '\0';
            if (wc_version_is_claim(f->identity.version_source)) {
                f->identity.version = WC_VERSION_NONE;
                f->identity.version_source = WC_version_source_UNKNOWN;
            }
        }
        wc_library_find_gpu(b, &reader.reader, f->gpu_library, sizeof(f->gpu_library));
    }
    out->image = b->image;
    out->identity = b->identity;
    out->gpu_library = b->gpu_library;
    out->required_by = b->required_by;
}

void elf_file_forget(struct elf_file *l) {
    l->library.identity = NULL;
    l->library.gpu_library = l->library.required_by = NULL;
}

/* ---- for core/ ---- */

static bool open_one(void *reader, const char *path, struct wc_library *out) {
    struct elf_reader *r = reader;

    r->open = elf_file_open(r->disk, path, false);
    if (!r->open)
        return false;
    *out = r->open->library;
    return true;
}

static bool close_one(void *reader) {
    struct elf_reader *r = reader;
    bool good = !r->open->contents->damaged;

    elf_file_close(r->open);
    return good;
}

void elf_reader_begin(struct elf_reader *r, const struct disk *disk) {
    *r = (struct elf_reader){.reader = {.files = disk ? &disk->files : &disk_files,
                                        .open = open_one,
                                        .close = close_one,
                                        .ctx = r,
                                        .scratch = scratch,
                                        .scratch_size = sizeof(scratch)},
                             .disk = disk};
}
