/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <string.h>

#include "tools/repair/wheels.h"

/* All libraries of cuDNN, of which no more than the major need be known. */
static bool put_set(struct overlay *o, const char *directory, struct wc_version release) {
    struct wheel_list files = overlay_libraries_of(
        o, release.minor < 0 ? release_newest(&o->memory.arena, release.major) : release);

    WC_EACH(file, files)
        if (!overlay_put_library(
                o, "", overlay_format(o, "%s/%s", directory, wc_base_name(file->file)), release, 0))
            return false;
    return true;
}

/* What is behind it nobody could see: what was asked for there, of cuDNN all that belongs to it. */
static bool open_directory(struct overlay *o, const struct edit *e, struct wc_version release) {
    const char *rest = e->target, *whole = "";

    for (; *rest; rest += strcspn(rest, ":"), rest += *rest == ':') {
        const char *path =
            overlay_placed(o, overlay_format(o, "%.*s", (int)strcspn(rest, ":"), rest));
        const char *directory = overlay_format(o, "%.*s", (int)wc_dir_length(path), path);
        const struct wc_name name = wc_name_read(path);
        struct wc_version own = wc_kind_is_cudnn(name.kind) ? release : name.version;
        if (!wc_version_known(own))
            own.major = name.version.major;
        if (overlay_is_there(o, path)) /* with its package */
            continue;
        if (!overlay_put_library(o, "", path, own, 0))
            return false;
        if (wc_kind_is_cudnn(name.kind) && strcmp(whole, directory) != 0 &&
            !put_set(o, directory, own))
            return false;
        whole = wc_kind_is_cudnn(name.kind) ? directory : whole;
    }
    return true;
}

bool overlay_allow_reading(struct overlay *o, const struct edit *e) {
    struct wc_version release = e->value ? wc_version_of(e->value) : WC_VERSION_NONE;
    const char *real = overlay_real_path(o, e->path);

    if (e->name && !overlay_reinstall(o, e))
        return false;
    if (e->target)
        return open_directory(o, e, release);
    if (e->name)
        return true;
    if (!wc_version_known(release)) /* its name says more than nothing */
        release.major = wc_name_read(wc_base_name(e->path)).version.major;
    return overlay_put_library(o, e->name ? e->name : "", real ? real : overlay_placed(o, e->path),
                               release, 0);
}
