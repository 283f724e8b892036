/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/knowledge/frameworks.h"

static bool set_variable(struct overlay *o, const char *name, const char *value) {
    size_t n = strlen(name), kept = 0;

    for (size_t i = 0; i < o->environment.n; i++)
        if (strncmp(o->environment.p[i], name, n) != 0 || o->environment.p[i][n] != '=')
            o->environment.p[kept++] = o->environment.p[i];
    o->environment.n = kept;
    o->environment.p[kept] = NULL;
    if (value)
        overlay_add_text(o, &o->environment, overlay_format(o, "%s=%s", name, value));
    o->changes = true;
    return true;
}

/* Of whatever CUDA it is a build for: the others' files do not exist. */
static bool preload(struct overlay *o, const struct edit *e) {
    const struct wc_framework *f = e->environment ? wc_framework_named(e->name) : NULL;

    WC_EACH_KNOWN(row, f ? f->preloaded : NULL, file) {
        char *path = overlay_format(o, "%s/%s", e->environment, row->file);
        if (overlay_is_there(o, path))
            overlay_add_text(o, &o->first, path);
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
        overlay_add_text(o, &o->first_asked, e->name);
        if (e->path)
            overlay_add_text(o, &o->first, e->path);
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
        return (!e->name || overlay_reinstall(o, e)) && overlay_allow_reading(o, e);
    case EDIT_LINK:
        return overlay_make_link(o, e);
    case EDIT_LINKS:
        return overlay_make_links(o, e);
    case EDIT_CACHE:
        return overlay_make_cache(o);
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

    library_cache_forget(o->library_cache, o->environments.p);
    return good;
}

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

void overlay_begin(struct overlay *o, struct library_cache *library_cache,
                   struct overlay_kept *kept, const struct wc_strings *environment) {
    memset(o, 0, sizeof(*o));
    o->kept = kept;
    heap_arena_begin(&o->memory);
    o->library_cache = library_cache;
    o->layer = (struct disk_layer){o, overlay_at, overlay_concerns, overlay_is_in, overlay_list};
    library_cache->disk.layer = &o->layer;
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
    o->library_cache->disk.layer = NULL;
    overlay_use_cache(o, (unsigned char *)(uintptr_t)o->cache.p, o->cache.n);
    if (o->files)
        o->library_cache->disk.changed++;
    for (struct overlay_file *f = o->files; f; f = f->hh.next)
        if (f->entry.kind == DISK_FILE)
            close(f->entry.fd);
    hash_clear(&o->files);
    hash_clear(&o->names);
    heap_arena_end(&o->memory);
}
