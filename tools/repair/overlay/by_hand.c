/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <string.h>

#include "tools/repair/wheels.h"

struct wheel_list overlay_libraries_of(struct overlay *o, struct wc_version release) {
    struct wheel_file *monolith = wc_arena_take(&o->memory.arena, sizeof(*monolith));
    char version[WC_VERSION_TEXT];

    if (release.major >= 8 || !monolith) /* before there was one */
        return wheel_list(&o->memory.arena, "nvidia-cudnn-cu12",
                          wc_version_format(release, version));
    *monolith = (struct wheel_file){.file = overlay_format(o, "libcudnn.so.%d", release.major)};
    return (struct wheel_list){monolith, 1};
}

struct replacing {
    struct overlay *o;
    const char *directory;
    int32_t major;
};

/* Libraries of another major stay beside it. */
static bool hide_replaced(void *arg, const char *entry) {
    struct replacing *r = arg;
    const struct wc_name name = wc_name_read(entry);

    if (wc_kind_is_cudnn(name.kind) && (name.version.major < 0 || name.version.major == r->major) &&
        !overlay_is_directory(r->o, overlay_format(r->o, "%s/%s", r->directory, entry)))
        overlay_hide(r->o, overlay_format(r->o, "%s/%s", r->directory, entry));
    return true;
}

bool overlay_place_cudnn(struct overlay *o, const char *directory, const char *package,
                         struct wc_version release) {
    struct replacing r = {o, directory, release.major};
    struct wheel_list files = overlay_libraries_of(o, release);
    char version[WC_VERSION_TEXT];

    release.build = -1;
    if (wheel_list(&o->memory.arena, package, wc_version_format(release, version)).n == 0)
        package = "";
    overlay_disk_of(o)->list(overlay_disk_of(o)->ctx, directory, hide_replaced, &r);
    WC_EACH(file, files) {
        const char *name = wc_base_name(file->file);
        if (!overlay_put_library(o, package, overlay_format(o, "%s/%s", directory, name), release,
                                 0))
            return false;
        overlay_put(
            o, overlay_format(o, "%s/%.*s", directory, (int)(strstr(name, ".so") - name) + 3, name),
            (struct disk_entry){.kind = DISK_LINK, .target = name});
    }
    return true;
}

/* Each library of that release is there, by the number in its own name. */
static bool is_whole(struct overlay *o, const char *directory, struct wc_version release) {
    struct wheel_list files = overlay_libraries_of(o, release);

    WC_EACH(file, files) {
        const char *path =
            overlay_real_path(o, overlay_format(o, "%s/%s", directory, wc_base_name(file->file)));
        if (!path || wc_version_compare(wc_name_read(path).version, release) != 0 ||
            !overlay_is_sound(o, path, release))
            return false;
    }
    return true;
}

bool overlay_place(struct overlay *o, const struct edit *e) {
    const char *directory = overlay_real_path(o, e->path), *spec = e->value ? e->value : "",
               *package;
    struct wc_version release;
    struct wc_spec set;

    if (!directory)
        return overlay_fail(o, "that directory is not there");
    overlay_note_environment(o, directory);
    if (wc_name_kind_of(e->name) == WC_NAME_CUDA_DEPENDENCY) {
        package = wheel_with(&o->memory.arena, e->name, -1, &spec);
        return overlay_put_library(o, package ? package : "",
                                   overlay_format(o, "%s/%s", directory, e->name),
                                   wc_name_read(e->name).version, 0);
    }
    package = e->target ? overlay_format(o, "nvidia-cudnn-cu%s", e->target) : "";
    /* Whichever release of the set somebody takes must do: the oldest, too. */
    release = wc_spec_read(spec, &set) ? release_filled(wc_spec_floor(&set)) : WC_VERSION_NONE;
    if (e->kind == EDIT_RESTORE && is_whole(o, directory, release))
        return overlay_fail(o, "all of it is there");
    return release.major >= 0 && release.major <= wheel_release("nvidia-cudnn-cu12", "").major
               ? overlay_place_cudnn(o, directory, package, release)
               : overlay_fail(o, "no release of it is known");
}
