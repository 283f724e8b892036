/* SPDX-License-Identifier: Apache-2.0 */
/* How each edit is played over an overlay. */
#include <string.h>

#include "core/knowledge/frameworks.h"
#include "overlay_inside.h"

/* Without a value it goes. */
static bool set_variable(struct overlay *o, const struct edit *e) {
    const char *name = e->name;
    size_t n = strlen(name), kept = 0;

    for (size_t i = 0; i < o->environment.n; i++)
        if (strncmp(o->environment.p[i], name, n) != 0 || o->environment.p[i][n] != '=')
            o->environment.p[kept++] = o->environment.p[i];
    o->environment.n = kept;
    o->environment.p[kept] = NULL;
    if (e->kind == EDIT_SET)
        overlay_add_text(o, &o->environment, overlay_format(o, "%s=%s", name, e->value));
    o->changes = true;
    return true;
}

static bool import_first(struct overlay *o, const struct edit *e) {
    overlay_add_text(o, &o->first_asked, e->name);
    overlay_add_text(o, &o->first, e->path);
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

static bool delete (struct overlay *o, const struct edit *e) {
    overlay_hide(o, overlay_placed(o, e->path));
    overlay_note_directory(o, e->path);
    return true;
}

static bool allow_reading(struct overlay *o, const struct edit *e) {
    return (!e->name || overlay_reinstall(o, e)) && overlay_allow_reading(o, e);
}

/* The replay asks for the other one. */
static bool open_other(struct overlay *o, const struct edit *e) {
    return o->changes = e->path;
}

bool overlay_apply(struct overlay *o, const struct edit *e) {
    static bool (*const plays[EDITS])(struct overlay * o, const struct edit *e) = {
        [EDIT_SET] = set_variable,
        [EDIT_UNSET] = set_variable,
        [EDIT_IMPORT_FIRST] = import_first,
        [EDIT_PRELOADER] = preload,
        [EDIT_OPEN] = open_other,
        [EDIT_REINSTALL] = overlay_reinstall,
        [EDIT_INSTALL] = overlay_install,
        [EDIT_REMOVE] = overlay_remove_package,
        [EDIT_MODE] = allow_reading,
        [EDIT_MODES] = overlay_allow_reading,
        [EDIT_LINK] = overlay_make_link,
        [EDIT_LINKS] = overlay_make_links,
        [EDIT_CACHE] = overlay_make_cache,
        [EDIT_DELETE] = delete,
        [EDIT_COPY] = overlay_copy,
        [EDIT_RESTORE] = overlay_place,
        [EDIT_PLACE] = overlay_place,
    };
    bool good =
        plays[e->kind] ? plays[e->kind](o, e) : overlay_fail(o, "it cannot be played over files");

    library_cache_forget(o->library_cache, o->environments.p);
    return good && !o->why;
}
