/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is there ---- */

const struct wc_files *overlay_disk_of(const struct overlay *o) {
    return &o->library_cache->disk.files;
}

const struct site *overlay_site(struct overlay *o, const char *path) {
    struct disk *disk = &o->library_cache->disk;
    const struct site *site;

    disk->is_bare = true;
    site = site_of(&o->kept->sites, &disk->files, path);
    disk->is_bare = false;
    return site;
}

struct entries overlay_entries(struct overlay *o, const char *directory) {
    return entries_of(&o->memory.arena, overlay_disk_of(o), directory);
}

bool overlay_is_there(const struct overlay *o, const char *path) {
    struct wc_file_stat facts;

    return overlay_disk_of(o)->facts(overlay_disk_of(o)->ctx, path, &facts);
}

const char *overlay_directory(struct overlay *o, const char *path) {
    return overlay_format(o, "%.*s", (int)wc_dir_length(path), path);
}

const char *overlay_placed(struct overlay *o, const char *path) {
    const char *directory = overlay_directory(o, path), *real;

    if (!directory[0] || !directory[1])
        return path;
    real = overlay_real_path(o, directory);
    if (real)
        return overlay_format(o, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
                              path + strlen(directory) + 1);
    return overlay_format(o, "%s/%s", overlay_placed(o, directory), path + strlen(directory) + 1);
}

const char *overlay_real_path(struct overlay *o, const char *path) {
    char room[PATH_MAX];

    return overlay_disk_of(o)->real_path(overlay_disk_of(o)->ctx, path, room, sizeof(room))
               ? wc_arena_string(&o->memory.arena, room)
               : NULL;
}

/* ---- the layer ---- */

bool overlay_fail(struct overlay *o, const char *why) {
    if (!o->why)
        o->why = why;
    return false;
}

/* As a container's runtime mounts libraries. */
static bool is_library_point(const char *point, const struct wc_mount_line *line) {
    (void)line;
    return strstr(wc_base_name(point), ".so") != NULL;
}

static void put(struct overlay *o, const char *path, struct disk_entry entry) {
    if (!path)
        return;
    if (!o->kept->mounts_read && !o->library_cache->disk.root[0])
        mount_points_read(&o->kept->mounts, is_library_point);
    o->kept->mounts_read = true;
    if (mount_points_have(&o->kept->mounts, path)) /* EBUSY */
        overlay_fail(o, "a file that it would replace is a mount and cannot be removed");
    if ((entry.kind == DISK_FILE || entry.kind == DISK_LINK) &&
        wc_is_directory(overlay_disk_of(o), path))
        overlay_fail(o, "a directory exists where it would install a file");
    const char *directory = entry.kind != DISK_GONE ? overlay_directory(o, path) : "";
    if (*directory && !overlay_is_there(o, directory)) /* nor, perhaps, those above it */
        put(o, directory, (struct disk_entry){.kind = DISK_DIRECTORY});
    disk_put(&o->library_cache->disk, path, entry);
    o->changes = true;
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

void overlay_note_environment(struct overlay *o, const char *path) {
    overlay_add_text(o, &o->environments, path);
}

void overlay_note_directory(struct overlay *o, const char *file) {
    const char *directory = overlay_directory(o, file);
    const struct entries *known = &o->environments;

    if (known->n == 0 || !wc_str_same(known->p[known->n - 1], directory))
        overlay_note_environment(o, directory);
}

/* ---- its life ---- */

/* LD_PRELOAD without our own library. */
static const char *without_own(struct overlay *o, const char *variable) {
    static const char name[] = "LD_PRELOAD=";
    const size_t own = strlen(WC_OWN_NAME);
    char *list = overlay_format(o, "%s", name);

    if (strncmp(variable, name, sizeof(name) - 1) != 0)
        return variable;
    WC_EACH_ELEMENT(e, variable + sizeof(name) - 1, " :")
        if (e.n && (e.n < own || strncmp(e.p + e.n - own, WC_OWN_NAME, own) != 0))
            list = overlay_format(o, "%s%s%.*s", list, list[sizeof(name) - 1] ? ":" : "", (int)e.n,
                                  e.p);
    return list[sizeof(name) - 1] ? list : NULL;
}

void overlay_use_cache(struct overlay *o, unsigned char *bytes, size_t n) {
    if (o->library_cache->cache != o->cache.p)
        free(o->library_cache->cache);
    o->library_cache->cache = bytes;
    o->library_cache->cache_size = n;
}

void overlay_begin(struct overlay *o, struct library_cache *library_cache,
                   struct overlay_kept *kept, const struct wc_strings *environment) {
    memset(o, 0, sizeof(*o));
    o->kept = kept;
    heap_arena_begin(&o->memory);
    o->library_cache = library_cache;
    o->cache = (struct wc_span){library_cache->cache, library_cache->cache_size};
    o->environment.p = wc_arena_take(&o->memory.arena, sizeof(*o->environment.p)); /* none so far */
    WC_EACH(variable, *environment) {
        const char *kept = *variable ? without_own(o, *variable) : NULL;
        if (kept)
            overlay_add_text(o, &o->environment, kept);
    }
}

void overlay_end(struct overlay *o) {
    library_cache_forget(o->library_cache, o->environments.p);
    disk_put_nothing(&o->library_cache->disk);
    overlay_use_cache(o, (unsigned char *)(uintptr_t)o->cache.p, o->cache.n);
    heap_arena_end(&o->memory);
}
