/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include "files.h"
#include "memory.h"
#include "process.h"
#include "sys.h"

#define BLOCK_BITS 16

/* Opens the file for each read, as hosts close and reuse descriptors. Bytes that were read stay. */
static bool read_piece(void *view, uint64_t from, uint64_t size) {
    struct view *v = view;
    struct stat st;
    size_t n = 0;
    int fd = files_open(v->path, &st);
    bool good = fd >= 0 && st.st_dev == v->device && st.st_ino == v->inode &&
                (uint64_t)st.st_size == v->blocks.size &&
                sys_protect(v->bytes + from, size, PROT_READ | PROT_WRITE) == 0 &&
                files_read(fd, from, v->bytes + from, size, &n) && n == size;
    if (fd >= 0)
        sys_close(fd);
    return good;
}

bool view_open(struct view *v, const char *path) {
    struct stat st;
    int fd = files_open(path, &st);
    if (fd < 0)
        return false;
    sys_close(fd);
    if (st.st_size <= 0 || (size_t)st.st_size > VIEW_MOST)
        return false;
    v->path = path;
    v->device = st.st_dev;
    v->inode = st.st_ino;
    v->bytes = sys_reserve((size_t)st.st_size);
    wc_blocks_begin(&v->blocks, (uint64_t)st.st_size, BLOCK_BITS, read_piece, v);
    return v->bytes != NULL;
}

bool view_fetch(void *view, uint64_t offset, uint64_t n) {
    return wc_blocks_fetch(&((struct view *)view)->blocks, offset, n);
}

void view_close(struct view *v) {
    sys_unmap(v->bytes, v->blocks.size);
}

/* ---- for core/ ---- */

static struct view views[2];
static size_t open_views;

static bool open_file(WC_UNUSED void *ctx, const char *path, struct wc_library *out) {
    struct view *v = &views[open_views];
    if (open_views == sizeof views / sizeof *views || !view_open(v, path))
        return false;
    open_views++;
    wc_library_begin(out, path);
    enum wc_elf_error error =
        wc_elf_from_pieces(&v->image, v->bytes, v->blocks.size, view_fetch, v);
    out->image = error || v->blocks.damaged ? NULL : &v->image;
    return true;
}

static bool close_file(WC_UNUSED void *ctx) {
    struct view *v = &views[--open_views];
    view_close(v);
    return !v->blocks.damaged;
}

const struct wc_reader *reader(void) {
    static struct wc_reader shim_reader = {&shim_files, open_file,    close_file,  NULL,
                                           NULL,        SCRATCH_FILE, process_site};
    shim_reader.scratch = memory_scratch_file();
    return &shim_reader;
}

struct wc_environments reader_environments;

void reader_forget(void) {
    reader_environments = (struct wc_environments){.n = 0};
}
