/* See elf_file.h. */
#include "elf_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/model/frameworks.h"
#include "tools/util/memory.h"

#define SCRATCH_SIZE ((size_t)64 << 10) /* what core/ asks for */
#define BLOCKS 65536
#define BLOCK_BITS 14       /* of memory that is not ours */
#define PAGE ((size_t)4096) /* the smallest there is */
/* Nothing that core/ asks of a library is that much; a file without an end may be a trap. */
#define BYTES_MOST ((uint64_t)256 << 20)
#define SEARCH_LEAST ((uint64_t)1 << 20) /* what is asked for at once, and searched */
#define DEMANDS_MOST 4

struct elf_file_contents {
    bool mapped;                   /* the file; else memory, read as it is asked for */
    struct elf_file_memory memory; /* where there is no file */
    uint64_t low;                  /* address of the first byte there */
    unsigned char *bytes;
    size_t size;
    uint64_t read; /* bytes so far */
    unsigned block_bits;
    volatile sig_atomic_t damaged;   /* it is not any more what it was */
    struct elf_file_contents *older; /* of those that are mapped */
    unsigned char have[BLOCKS / 8];
    unsigned char scratch[SCRATCH_SIZE];
    struct wc_identity identity;
    bool identified;
    struct wc_object_room room;
};

/* ---- the bytes ---- */

static bool has_block(const struct elf_file_contents *f, uint64_t i) {
    return f->have[i / 8] >> (i % 8) & 1;
}

/* By pages: between two segments some may be missing, of which nothing is asked for. */
static bool read_memory(const struct elf_file_contents *f, uint64_t from, size_t n) {
    const struct elf_file_memory *m = &f->memory;
    bool some = false;

    if (m->read(m->owner, f->low + from, f->bytes + from, n))
        return true;
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = n - at < PAGE ? n - at : PAGE;
        some = m->read(m->owner, f->low + from + at, f->bytes + from + at, piece) || some;
    }
    return some;
}

static bool read_blocks(struct elf_file_contents *f, uint64_t first, uint64_t last) {
    uint64_t from = first << f->block_bits, end = (last + 1) << f->block_bits;

    if (end > f->size)
        end = f->size;
    f->read += end - from;
    if (f->read > BYTES_MOST || !read_memory(f, from, end - from))
        return false;
    for (uint64_t i = first; i <= last; i++)
        f->have[i / 8] |= (unsigned char)(1 << (i % 8));
    return true;
}

static bool fetch_memory(void *owner, uint64_t offset, uint64_t n) {
    struct elf_file_contents *f = owner;
    uint64_t last = n > 0 ? (offset + n - 1) >> f->block_bits : 0;

    for (uint64_t i = offset >> f->block_bits, end; n > 0 && i <= last && !f->damaged; i = end) {
        end = i + 1;
        if (has_block(f, i))
            continue;
        while (end <= last && !has_block(f, end))
            end++;
        f->damaged = !read_blocks(f, i, end - 1);
    }
    return !f->damaged;
}

static void open_memory(struct elf_file_contents *f, uint64_t size) {
    void *bytes = size > 0 && size <= SIZE_MAX / 2
                      ? mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                      : MAP_FAILED;

    if (bytes == MAP_FAILED)
        return;
    f->bytes = bytes;
    f->size = (size_t)size;
    for (f->block_bits = BLOCK_BITS; (size - 1) >> f->block_bits >= BLOCKS;)
        f->block_bits++;
}

/* ---- a file, mapped ---- */

static struct elf_file_contents *mapped;

/* Whoever cuts a file while it is looked at takes pages away: they read as zero from then on, and
 * the file counts as damaged. Anybody else's fault ends the command, as it would without this. */
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

static void map_file(struct elf_file_contents *f, int fd, uint64_t size) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    void *bytes = size > 0 && size <= SIZE_MAX / 2
                      ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0)
                      : MAP_FAILED;

    if (bytes == MAP_FAILED)
        return;
    action.sa_sigaction = lost_page;
    sigaction(SIGBUS, &action, NULL);
    f->mapped = true;
    f->bytes = bytes;
    f->size = (size_t)size;
    f->older = mapped;
    mapped = f;
}

/* What a search asks for is read through, and some files have no end. */
static bool fetch_file(void *owner, uint64_t offset, uint64_t n) {
    struct elf_file_contents *f = owner;

    (void)offset;
    if (n >= SEARCH_LEAST)
        f->read += n;
    return !f->damaged && n <= BYTES_MOST && f->read <= 4 * BYTES_MOST;
}

static void unmap(struct elf_file_contents *f) {
    struct elf_file_contents **at = &mapped;

    if (f->bytes)
        munmap(f->bytes, f->size);
    while (*at && *at != f)
        at = &(*at)->older;
    if (*at)
        *at = f->older;
}

/* ---- opening ---- */

static const char *best_path(const struct elf_file *l) {
    return l->real_path ? l->real_path : l->path;
}

static void image_of_file(struct elf_file *l, int fd) {
    struct elf_file_contents *f = l->file;

    map_file(f, fd, l->facts.size);
    l->error = l->facts.size > 0 ? WC_ELF_TRUNCATED : WC_ELF_EMPTY;
    if (f->bytes)
        l->error = wc_elf_from_pieces(&l->image, f->bytes, f->size, 0, fetch_file, f);
}

static void image_of_memory(struct elf_file *l) {
    struct elf_file_contents *f = l->file;
    const struct elf_file_memory *m = &f->memory;
    uint64_t low = UINT64_MAX, high = 0;

    for (size_t i = 0; i < m->header_count; i++) {
        const Elf64_Phdr *p = &m->headers[i];
        if (p->p_type != PT_LOAD || p->p_memsz > BYTES_MOST << 10 || p->p_vaddr > UINT64_MAX / 2)
            continue;
        low = p->p_vaddr < low ? p->p_vaddr : low;
        high = p->p_vaddr + p->p_memsz > high ? p->p_vaddr + p->p_memsz : high;
    }
    low &= ~(uint64_t)(PAGE - 1);
    l->error = WC_ELF_MALFORMED;
    if (high > low)
        open_memory(f, high - low);
    f->low = m->base + low;
    if (f->bytes)
        l->error = wc_elf_from_elsewhere(&l->image, m->base, m->headers, m->header_count, f->bytes,
                                         low, f->size, fetch_memory, f);
}

static void read_other(struct elf_file *l) {
    wc_name_read(l->path, &l->relevance.name);
    if (l->relevance.name.kind == WC_NAME_OTHER)
        wc_name_read(wc_elf_soname(&l->image), &l->relevance.name);
    l->relevance.framework = wc_framework_of(best_path(l));
}

static void read_image(struct elf_file *l, bool other) {
    if (l->error != WC_ELF_OK)
        memset(&l->image, 0, sizeof(l->image));
    if (other)
        read_other(l);
    else
        wc_relevance_read(&l->image, l->path, &l->relevance); /* as the loader knows it */
    if (l->relevance.name.kind == WC_NAME_OTHER && l->real_path)
        wc_name_read(l->real_path, &l->relevance.name);
}

static struct elf_file *open_look(const struct disk *disk, const char *path, bool other) {
    char real_path[PATH_MAX];
    struct stat facts;
    int fd = disk_open(disk, path, &facts);
    struct elf_file *l;

    if (fd < 0)
        return NULL;
    l = must_allocate(sizeof(*l));
    l->disk = disk;
    l->path = must_copy(path);
    if (disk->files.real_path(disk->files.ctx, path, real_path, sizeof(real_path)))
        l->real_path = must_copy(real_path);
    l->facts = (struct wc_file_stat){.device = facts.st_dev,
                                     .inode = facts.st_ino,
                                     .size = (uint64_t)facts.st_size,
                                     .mtime = facts.st_mtime,
                                     .regular = true};
    l->file = must_allocate(sizeof(*l->file));
    image_of_file(l, fd);
    close(fd);
    read_image(l, other);
    return l;
}

struct elf_file *elf_file_open(const struct disk *disk, const char *path) {
    return open_look(disk, path, false);
}

struct elf_file *elf_file_open_other(const struct disk *disk, const char *path) {
    return open_look(disk, path, true);
}

struct elf_file *elf_file_open_memory(const struct disk *disk, const char *path,
                                      const struct elf_file_memory *memory) {
    struct elf_file *l = must_allocate(sizeof(*l));

    l->disk = disk;
    l->path = must_copy(path);
    l->real_path = must_copy(path);
    l->facts.device = (uint64_t)memory->device;
    l->facts.inode = (uint64_t)memory->inode;
    l->file = must_allocate(sizeof(*l->file));
    l->file->memory = *memory;
    image_of_memory(l);
    read_image(l, false);
    return l;
}

void elf_file_close(struct elf_file *l) {
    if (!l)
        return;
    unmap(l->file);
    free(l->file);
    free(l->path);
    free(l->real_path);
    free(l);
}

/* ---- what is told ---- */

static const struct wc_elf_image *image_of(const struct elf_file *l) {
    return l->error == WC_ELF_OK && !l->file->damaged ? &l->image : NULL;
}

/* What lies beside it now says nothing of what lay there then. */
static void forget_package(struct wc_identity *id) {
    id->installation_version[0] = '\0';
    if (id->version_source == WC_version_source_PACKAGE_METADATA ||
        id->version_source == WC_version_source_HEADER) {
        id->version = WC_VERSION_NONE;
        id->version_source = WC_version_source_UNKNOWN;
    }
}

static void identify(struct elf_file *l) {
    if (l->file->identified)
        return;
    l->file->identified = true;
    wc_identify(&l->disk->files, best_path(l), image_of(l),
                l->relevance.name.kind == WC_NAME_FACADE, l->file->scratch, SCRATCH_SIZE,
                &l->file->identity);
    if (l->file->memory.read)
        forget_package(&l->file->identity);
}

void elf_file_object(struct elf_file *l, struct wc_record *out) {
    struct wc_object_record *o = &out->u.object;

    wc_record_begin(out, WC_KIND_object);
    o->role = wc_role_of(&l->relevance);
    o->is_host = o->role == WC_role_HOST;
    o->part = l->relevance.name.part[0] ? l->relevance.name.part : NULL;
    o->mapped = true;
    o->path = l->path;
    o->real_path = l->real_path;
    o->device = (int64_t)l->facts.device;
    o->inode = (int64_t)l->facts.inode;
    o->size = l->file->memory.read ? WC_NULL : (int64_t)l->facts.size;
    o->mtime = l->file->memory.read ? WC_NULL : l->facts.mtime;
    if (image_of(l))
        wc_object_take_image(o, &l->image, &l->file->room);
    identify(l);
    wc_object_take_identity(o, &l->file->identity, &l->file->room);
    if (l->relevance.framework)
        wc_object_take_framework(o, l->relevance.framework, &l->disk->files, best_path(l),
                                 &l->file->room);
}

struct emitting {
    struct elf_file *l;
    record_sink *add;
    void *ctx;
};

static void emit(void *ctx, struct wc_record *demand) {
    struct emitting *t = ctx;

    t->add(t->ctx, demand);
}

static bool version_of(void *ctx, const char *path, char version[WC_VERSION_TEXT]) {
    struct emitting *t = ctx;
    struct elf_file *other = elf_file_open(t->l->disk, path);
    bool known = false;

    if (!other)
        return false;
    identify(other);
    known = image_of(other) && wc_version_known(other->file->identity.version);
    if (known)
        wc_version_format(other->file->identity.version, version);
    elf_file_close(other);
    return known;
}

void elf_file_demands(struct elf_file *l, int64_t host, record_sink *add, void *ctx) {
    struct wc_metadata_demand *found = must_allocate(DEMANDS_MOST * sizeof(*found));
    struct emitting t = {l, add, ctx};
    const struct wc_host h = {host, l->path, emit, &t};
    const struct wc_package_reader elf_file = {&l->disk->files, l->file->scratch, SCRATCH_SIZE,
                                               found,           DEMANDS_MOST,     version_of};

    if (image_of(l))
        wc_host_demands_of_image(&h, &l->image);
    wc_host_demands_of_package(&h, &elf_file, best_path(l));
    free(found);
}

static void emit_package(void *ctx, const struct wc_package_record *package) {
    struct emitting *t = ctx;
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_package);
    r.u.package = *package;
    t->add(t->ctx, &r);
}

void elf_file_packages(struct elf_file *l, record_sink *add, void *ctx) {
    struct emitting t = {l, add, ctx};

    wc_packages_near(&l->disk->files, best_path(l), l->file->scratch, SCRATCH_SIZE, emit_package,
                     &t);
}
