/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <string.h>

#include "core/demand/questions.h"
#include "tools/observe/preload.h"

/* ---- what is there ---- */

const char *overlay_placed(struct overlay *o, const char *path) {
    const char *directory = overlay_directory(o, path);

    if (!directory[0] || !directory[1])
        return path;
    const char *real = overlay_real_path(o, directory) ?: overlay_placed(o, directory);
    return overlay_format(o, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
                          path + strlen(directory) + 1);
}

/* ---- the layer ---- */

bool overlay_fail(struct overlay *o, const char *why) {
    o->why = o->why ?: why;
    return false;
}

static void put(struct overlay *o, const char *path, struct disk_entry entry) {
    if (!path)
        return;
    /* EBUSY: a container's runtime mounts libraries. */
    if (strstr(wc_base_name(path), ".so") && disk_mount(&o->library_cache->disk, path))
        overlay_fail(o, "a file that it would replace is a mount and cannot be removed");
    if ((entry.kind == DISK_FILE || entry.kind == DISK_LINK) &&
        wc_is_directory(o->view.files, path) &&
        wc_str_same(overlay_real_path(o, path), path)) /* no link, which it would replace */
        overlay_fail(o, "a directory exists where it would install a file");
    const char *directory = entry.kind != DISK_GONE ? overlay_directory(o, path) : "";
    if (*directory && !overlay_is_there(o, directory)) /* nor, perhaps, those above it */
        put(o, directory, (struct disk_entry){.kind = DISK_DIRECTORY});
    disk_put(&o->library_cache->disk, path, entry);
    o->changes = o->changes_files = true;
}

void overlay_put_link(struct overlay *o, const char *path, const char *target) {
    put(o, path, (struct disk_entry){.kind = DISK_LINK, .target = target});
}

void overlay_hide(struct overlay *o, const char *path) {
    put(o, path, (struct disk_entry){.kind = DISK_GONE});
}

bool overlay_put_file(struct overlay *o, const char *path, int fd) {
    if (fd < 0)
        return overlay_fail(o, "no memory for the files that it would install");
    put(o, path, (struct disk_entry){.kind = DISK_FILE, .fd = fd});
    return true;
}

/* ---- libraries in place of others ---- */

bool overlay_put_library(struct overlay *o, const char *package, const char *path,
                         struct wc_version release, uint64_t size) {
    struct image image;

    if (!wheel_image(&o->memory.arena, package, path, release, &image))
        return overlay_fail(o, "what a file of this package holds is not known");
    image.size = size;
    /* A library of other makers that is put there is one that has what the process lacked, and so
     * is one of CUDA's in the place of another package's file (CodeJudge#2). */
    const enum wc_name_kind kind = wc_name_kind_of(path);
    if (o->stack && !image.functions.n &&
        (kind == WC_NAME_OTHER || (kind == WC_NAME_CUDA_DEPENDENCY && size)))
        WC_EACH(f, o->stack->failures)
            entries_add(&o->memory.arena, &image.functions, f->said.symbol);
    return overlay_put_file(o, path, image_make(&image));
}

bool overlay_is_sound(struct overlay *o, const char *path, struct wc_version release) {
    const struct library *l = library_cache_get(o->library_cache, path, NULL);

    if (!l || !l->is_elf || l->damaged || l->machine != OWN_MACHINE)
        return false;
    struct wc_version own = library_release(o->library_cache, path);
    own.build = release.build = -1;
    return !wc_version_known(own) || !wc_version_known(release) ||
           wc_version_compare(own, release) == 0;
}

struct wheel_list overlay_cudnn_files(struct overlay *o, const char *wheel,
                                      struct wc_version release) {
    struct wheel_file *monolith = wc_arena_take(&o->memory.arena, sizeof(*monolith));

    if (release.minor < 0 && release.major >= 8)
        release = wheel_release("nvidia-cudnn-cu12",
                                overlay_format(o, ">=%d,<%d", release.major, release.major + 1));
    if (release.major >= 8) /* before there was one */
        return wheel_list(&o->memory.arena, wheel, release);
    *monolith = (struct wheel_file){.file = overlay_format(o, "libcudnn.so.%d", release.major)};
    return (struct wheel_list){monolith, 1};
}

/* ---- its life ---- */

/* LD_PRELOAD without our own library. */
static const char *without_own(struct overlay *o, const char *variable) {
    static const char name[] = "LD_PRELOAD=";

    if (!wc_str_starts(variable, name))
        return variable;
    OWNED char *rest = preload_without(variable + strlen(name), WC_OWN_NAME);
    return rest ? overlay_format(o, "%s%s", name, rest) : NULL;
}

void overlay_begin(struct overlay *o, struct library_cache *library_cache, struct sites *sites,
                   const struct wc_strings *environment) {
    *o = (struct overlay){.memory = HEAP_ARENA(o->memory),
                          .view = {&o->memory.arena, &library_cache->disk.files},
                          .library_cache = library_cache,
                          .sites = sites};
    o->environment.p = wc_arena_take(&o->memory.arena, sizeof(*o->environment.p)); /* none so far */
    WC_EACH(variable, *environment)
        overlay_add_text(o, &o->environment, *variable ? without_own(o, *variable) : NULL);
}

void overlay_end(struct overlay *o) {
    if (o->changes_files)
        library_cache_forget(o->library_cache);
    disk_put_nothing(&o->library_cache->disk);
    o->library_cache->listed = NULL;
    heap_arena_end(&o->memory);
}
