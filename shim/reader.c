/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include "files.h"
#include "memory.h"
#include "process.h"
#include "view.h"

static struct view views[2];
static size_t open_views;

static bool open_file(void *ctx, const char *path, struct wc_library *out) {
    struct view *v = &views[open_views];
    (void)ctx;
    if (open_views == sizeof views / sizeof *views || !view_open(v, path))
        return false;
    open_views++;
    wc_library_begin(out, path);
    const struct wc_elf_image *e = view_image(v);
    out->image = v->blocks.damaged ? NULL : e;
    return true;
}

static bool close_file(void *ctx) {
    struct view *v = &views[--open_views];
    (void)ctx;
    view_close(v);
    return !v->blocks.damaged;
}

const struct wc_reader *reader(void) {
    static struct wc_reader shim_reader = {&shim_files, open_file,    close_file,  NULL,
                                           NULL,        SCRATCH_FILE, process_site};
    shim_reader.scratch = memory_scratch_file();
    return &shim_reader;
}
