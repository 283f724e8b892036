#include "view.h"

#include <sys/mman.h>

#include "files.h"
#include "sys.h"

/* What was read is known by the block: 64 KiB, more where a file has more than VIEW_BLOCKS of
 * those.
 */
#define BLOCK_BITS 16

static bool has_block(const struct view *v, uint64_t i) {
    return v->have[i / 8] >> (i % 8) & 1;
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
    v->size = (size_t)st.st_size;
    v->device = st.st_dev;
    v->inode = st.st_ino;
    v->damaged = false;
    v->bytes = sys_reserve(v->size);
    wc_mem_set(v->have, 0, sizeof v->have);
    for (v->block_bits = BLOCK_BITS; (v->size - 1) >> v->block_bits >= VIEW_BLOCKS;)
        v->block_bits++;
    return v->bytes != NULL;
}

/* Blocks first to last, none of which was read: what somebody looks at already never changes. The
 * file is opened for each read: hosts close and reuse descriptors. */
static bool read_blocks(struct view *v, uint64_t first, uint64_t last) {
    uint64_t from = first << v->block_bits, end = (last + 1) << v->block_bits;
    size_t n = 0;
    struct stat st;
    int fd = files_open(v->path, &st);
    if (end > v->size)
        end = v->size;
    bool good = fd >= 0 && st.st_dev == v->device && st.st_ino == v->inode &&
                (uint64_t)st.st_size == v->size &&
                sys_protect(v->bytes + from, end - from, PROT_READ | PROT_WRITE) == 0 &&
                files_read(fd, from, v->bytes + from, end - from, &n) && n == end - from;
    if (fd >= 0)
        sys_close(fd);
    for (uint64_t i = first; good && i <= last; i++)
        v->have[i / 8] |= (unsigned char)(1 << (i % 8));
    return good;
}

bool view_fetch(void *view, uint64_t offset, uint64_t n) {
    struct view *v = view;
    if (!n)
        return true;
    uint64_t last = (offset + n - 1) >> v->block_bits;
    for (uint64_t i = offset >> v->block_bits, end; i <= last && !v->damaged; i = end) {
        end = i + 1;
        if (has_block(v, i))
            continue;
        while (end <= last && !has_block(v, end))
            end++;
        v->damaged = !read_blocks(v, i, end - 1);
    }
    return !v->damaged;
}

const struct wc_elf_image *view_image(struct view *v) {
    enum wc_elf_error error = wc_elf_from_pieces(&v->image, v->bytes, v->size, 0, view_fetch, v);
    return error == WC_ELF_OK ? &v->image : NULL;
}

void view_close(struct view *v) {
    sys_unmap(v->bytes, v->size);
}
