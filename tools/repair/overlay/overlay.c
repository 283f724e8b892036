/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/knowledge/frameworks.h"

struct overlay_file {
    UT_hash_handle hh;
    const char *path; /* without links, inside of the root */
    struct disk_entry entry;
};

struct overlay_name {
    UT_hash_handle hh;
    const char *name;
};

/* ---- what is there ---- */

const struct wc_files *overlay_disk_of(const struct overlay *o) {
    return &o->library_cache->disk.files;
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

struct disk_entry overlay_at(void *overlay, const char *path) {
    struct overlay *o = overlay;
    struct overlay_file *f;

    f = hash_find_text(o->files, path);
    return f ? f->entry : (struct disk_entry){.kind = DISK_AS_IT_IS};
}

static bool lies_in(const struct overlay_file *f, const char *dir, size_t n) {
    return strncmp(f->path, dir, n) == 0 && f->path[n] == '/' && !strchr(f->path + n + 1, '/');
}

static size_t length_of(const char *dir) {
    return strcmp(dir, "/") == 0 ? 0 : strlen(dir);
}

static bool layer_is_in(void *overlay, const char *dir) {
    const size_t n = length_of(dir);
    struct overlay *o = overlay;

    for (struct overlay_file *f = o->files; f; f = f->hh.next)
        if (lies_in(f, dir, n))
            return true;
    return false;
}

static bool layer_list(void *overlay, const char *dir, bool (*each)(void *arg, const char *name),
                       void *arg) {
    const size_t n = length_of(dir);
    struct overlay *o = overlay;

    for (struct overlay_file *f = o->files; f; f = f->hh.next)
        if (f->entry.kind != DISK_GONE && lies_in(f, dir, n) && !each(arg, f->path + n + 1))
            return false;
    return true;
}

/* "libcudnn.so" of "libcudnn.so.9.1.0": links of a library lead from one of its names to another.
 */
static size_t stem_length(const char *name) {
    const char *end = strstr(name, ".so");

    return end ? (size_t)(end - name) + strlen(".so") : strlen(name);
}

static bool layer_concerns(void *overlay, const char *name) {
    struct overlay *o = overlay;
    struct overlay_name *found;

    if (!*name) /* a directory, with a '/' behind */
        return o->files != NULL;
    found = hash_find(o->names, name, stem_length(name));
    return found != NULL;
}

bool overlay_fail(struct overlay *o, const char *why) {
    if (!o->why)
        o->why = why;
    return false;
}

static void add_text(struct overlay_names *to, const char *text) {
    to->p = must_grow(to->p, (to->n + 2) * sizeof(*to->p));
    to->p[to->n++] = text;
    to->p[to->n] = NULL;
}

void overlay_note_name(struct overlay *o, const char *path) {
    const char *name = wc_base_name(path);
    struct overlay_name *n;

    n = hash_find(o->names, name, stem_length(name));
    if (n || !(n = wc_arena_take(&o->memory.arena, sizeof(*n))))
        return;
    n->name = name;
    hash_add(&o->names, n, n->name, stem_length(n->name));
}

/* As a container's runtime mounts libraries. */
static bool is_library_point(const char *point, const struct wc_mount_line *line) {
    (void)line;
    return strstr(wc_base_name(point), ".so") != NULL;
}

static bool is_mount(const struct overlay *o, const char *path) {
    if (!o->kept->mounts_read && !o->library_cache->disk.root[0])
        mount_points_read(&o->kept->mounts, is_library_point);
    o->kept->mounts_read = true;
    return mount_points_have(&o->kept->mounts, path);
}

/* Directories on the way to it that are not there. */
static void put_directories(struct overlay *o, const char *path) {
    const char *directory = overlay_directory(o, path);

    if (*directory && !overlay_is_there(o, directory))
        overlay_put(o, directory, (struct disk_entry){.kind = DISK_DIRECTORY});
}

void overlay_put(struct overlay *o, const char *path, struct disk_entry entry) {
    struct overlay_file *f;

    if (!path)
        return;
    if (is_mount(o, path)) /* EBUSY */
        overlay_fail(o,
                     "a file that it would replace is mounted there, which nobody can take away");
    if ((entry.kind == DISK_FILE || entry.kind == DISK_LINK) &&
        wc_is_directory(overlay_disk_of(o), path))
        overlay_fail(o, "a directory stands in the place of a file that it would bring");
    if (entry.kind != DISK_GONE)
        put_directories(o, path);
    f = hash_find_text(o->files, path);
    if (f) {
        if (f->entry.kind == DISK_FILE)
            close(f->entry.fd);
    } else if ((f = wc_arena_take(&o->memory.arena, sizeof(*f)))) {
        f->path = path;
        hash_add(&o->files, f, f->path, strlen(f->path));
    }
    if (f)
        f->entry = entry;
    o->library_cache->disk.changed++;
    overlay_note_name(o, path);
    o->changes = true;
}

void overlay_put_link(struct overlay *o, const char *path, const char *target) {
    overlay_put(o, path, (struct disk_entry){.kind = DISK_LINK, .target = target});
}

void overlay_hide(struct overlay *o, const char *path) {
    overlay_put(o, path, (struct disk_entry){.kind = DISK_GONE});
}

bool overlay_put_file(struct overlay *o, const char *path, int fd) {
    if (fd < 0)
        return overlay_fail(o, "no memory for the files that it would bring");
    overlay_put(o, path, (struct disk_entry){.kind = DISK_FILE, .fd = fd});
    return true;
}

void overlay_note_environment(struct overlay *o, const char *path) {
    add_text(&o->environments, path);
}

void overlay_note_directory(struct overlay *o, const char *file) {
    const char *directory = overlay_directory(o, file);
    const struct overlay_names *known = &o->environments;

    if (known->n == 0 || !wc_str_same(known->p[known->n - 1], directory))
        overlay_note_environment(o, directory);
}

/* ---- edits ---- */

static bool set_variable(struct overlay *o, const char *name, const char *value) {
    size_t n = strlen(name), kept = 0;

    for (size_t i = 0; i < o->environment.n; i++)
        if (strncmp(o->environment.p[i], name, n) != 0 || o->environment.p[i][n] != '=')
            o->environment.p[kept++] = o->environment.p[i];
    o->environment.n = kept;
    o->environment.p[kept] = NULL;
    if (value)
        add_text(&o->environment, overlay_format(o, "%s=%s", name, value));
    o->changes = true;
    return true;
}

/* Of whatever CUDA it is a build for: the others' files are not there. */
static bool preload(struct overlay *o, const struct edit *e) {
    const struct wc_framework *f = e->environment ? wc_framework_named(e->name) : NULL;

    WC_EACH_KNOWN(row, f ? f->preloaded : NULL, file) {
        char *path = overlay_format(o, "%s/%s", e->environment, row->file);
        if (overlay_is_there(o, path))
            add_text(&o->first, path);
    }
    o->changes = o->changes || o->first.n > 0;
    return o->first.n > 0 || overlay_fail(o, "it finds nothing to load");
}

static bool apply(struct overlay *o, const struct edit *e) {
    switch (e->kind) {
    case EDIT_SET:
        return set_variable(o, e->name, e->value);
    case EDIT_UNSET:
        return set_variable(o, e->name, NULL);
    case EDIT_IMPORT_FIRST:
        add_text(&o->first_asked, e->name);
        o->changes = true;
        return true;
    case EDIT_PRELOADER:
        return preload(o, e);
    case EDIT_REINSTALL:
        return overlay_reinstall(o, e);
    case EDIT_INSTALL:
        return overlay_install(o, e);
    case EDIT_REMOVE:
        return overlay_remove_package(o, e);
    case EDIT_MODE:
        return overlay_allow_reading(o, e);
    case EDIT_LINK:
        return overlay_make_link(o, e);
    case EDIT_LINKS:
        return overlay_make_links(o, e);
    case EDIT_DELETE:
        overlay_hide(o, overlay_placed(o, e->path));
        overlay_note_directory(o, e->path);
        return true;
    case EDIT_RESTORE:
    case EDIT_PLACE:
        return overlay_place(o, e);
    default:
        return overlay_fail(o, "it cannot be played over files");
    }
}

bool overlay_apply(struct overlay *o, const struct edit *e) {
    bool good = apply(o, e) && !o->why;

    library_cache_forget(o->library_cache, layer_concerns, o, o->environments.p);
    return good;
}

static bool is_own_preload(const char *element, size_t n) {
    const size_t own = strlen(WC_OWN_NAME);

    return n >= own && strncmp(element + n - own, WC_OWN_NAME, own) == 0;
}

/* LD_PRELOAD without our own library. */
static const char *without_own(struct overlay *o, const char *variable) {
    static const char name[] = "LD_PRELOAD=";
    const char *rest = variable + sizeof(name) - 1;
    char *list = overlay_format(o, "%s", name);

    if (strncmp(variable, name, sizeof(name) - 1) != 0)
        return variable;
    while (*rest) {
        size_t n = strcspn(rest, " :");
        if (n && !is_own_preload(rest, n))
            list = overlay_format(o, "%s%s%.*s", list, list[sizeof(name) - 1] ? ":" : "", (int)n,
                                  rest);
        rest += n + (rest[n] != '\0');
    }
    return list[sizeof(name) - 1] ? list : NULL;
}

void overlay_begin(struct overlay *o, struct library_cache *library_cache,
                   struct overlay_kept *kept, const struct wc_strings *environment) {
    memset(o, 0, sizeof(*o));
    o->kept = kept;
    heap_arena_begin(&o->memory);
    o->library_cache = library_cache;
    o->layer = (struct disk_layer){o, overlay_at, layer_is_in, layer_list};
    library_cache->disk.layer = &o->layer;
    library_cache->disk.changed++;
    o->environment.p = must_allocate(sizeof(*o->environment.p));
    WC_EACH(variable, *environment) {
        const char *kept = *variable ? without_own(o, *variable) : NULL;
        if (kept)
            add_text(&o->environment, kept);
    }
}

void overlay_end(struct overlay *o) {
    library_cache_forget(o->library_cache, layer_concerns, o, o->environments.p);
    o->library_cache->disk.layer = NULL;
    o->library_cache->disk.changed++;
    for (struct overlay_file *f = o->files; f; f = f->hh.next)
        if (f->entry.kind == DISK_FILE)
            close(f->entry.fd);
    hash_clear(&o->files);
    hash_clear(&o->names);
    free(o->environment.p);
    free(o->environments.p);
    free(o->first.p);
    free(o->first_asked.p);
    heap_arena_end(&o->memory);
}
