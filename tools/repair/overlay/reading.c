/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <limits.h>
#include <string.h>

#define LIST_MOST ((size_t)16 << 20) /* of a package's list of files */

const struct wc_files *overlay_disk_of(const struct overlay *o) {
    return &o->library_cache->disk.files;
}

bool overlay_is_there(const struct overlay *o, const char *path) {
    struct wc_file_stat facts;

    return overlay_disk_of(o)->facts(overlay_disk_of(o)->ctx, path, &facts);
}

bool overlay_is_directory(struct overlay *o, const char *path) {
    return wc_is_directory(overlay_disk_of(o), path);
}

const char *overlay_placed(struct overlay *o, const char *path) {
    size_t n = wc_dir_length(path);
    char *directory = overlay_format(o, "%.*s", (int)n, path), room[PATH_MAX];

    if (!directory || n <= 1)
        return path;
    if (overlay_disk_of(o)->real_path(overlay_disk_of(o)->ctx, directory, room, sizeof(room)))
        return overlay_format(o, "%s/%s", strcmp(room, "/") == 0 ? "" : room, path + n + 1);
    return overlay_format(o, "%s/%s", overlay_placed(o, directory), path + n + 1);
}

const char *overlay_real_path(struct overlay *o, const char *path) {
    char room[PATH_MAX];

    return overlay_disk_of(o)->real_path(overlay_disk_of(o)->ctx, path, room, sizeof(room))
               ? wc_arena_string(&o->memory.arena, room)
               : NULL;
}

char *overlay_read_all(struct overlay *o, const char *path) {
    struct wc_file_stat facts;
    char *text;
    size_t n;

    if (!overlay_disk_of(o)->facts(overlay_disk_of(o)->ctx, path, &facts) ||
        facts.size > LIST_MOST ||
        !(text = wc_arena_take(&o->memory.arena, (size_t)facts.size + 1)) ||
        !overlay_disk_of(o)->read(overlay_disk_of(o)->ctx, path, 0, text, (size_t)facts.size, &n))
        return NULL;
    text[n] = '\0';
    return text;
}
