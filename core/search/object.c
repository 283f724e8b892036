/* SPDX-License-Identifier: Apache-2.0 */
/* An object that takes part in a search: what it says of one, and its $ORIGIN (search.h). */
#include "search.h"

void wc_search_object_read(struct wc_search_object *o, const struct wc_elf_image *e,
                           struct wc_arena *arena) {
    o->rpath = wc_arena_string(arena, wc_elf_rpath(e));
    o->runpath = wc_arena_string(arena, wc_elf_runpath(e));
    o->soname = wc_arena_string(arena, wc_elf_soname(e));
    o->no_default = (e->flags_1 & DF_1_NODEFLIB) != 0;
}

const char *wc_search_origin(struct wc_arena *arena, const char *path, const char *directory) {
    size_t n = path ? wc_dir_length(path) : 0;
    if (n && path[0] == '/')
        return wc_arena_string_n(arena, path, n);
    if (!path || !path[0] || !directory)
        return NULL;
    return n ? wc_arena_format(arena, "%s/%.*s", directory, (int)n, path)
             : wc_arena_string(arena, directory);
}
