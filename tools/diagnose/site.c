/* SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include "entries.h"

const struct site *site_of(struct sites *sites, const struct wc_files *files, const char *path) {
    struct wc_arena *memory = &sites->memory.arena;
    struct entries all;
    struct site *s;

    for (s = sites->first; s; s = s->next)
        if (wc_str_same(s->path, path))
            return s;
    if (!sites->first)
        heap_arena_begin(&sites->memory);
    all = entries_of(memory, files, path);
    s = wc_arena_take(memory, sizeof(*s));
    *s = (struct site){.next = sites->first,
                       .path = wc_arena_string(memory, path),
                       .p = wc_arena_take(memory, (all.n + 1) * sizeof(*s->p))};
    WC_EACH(entry, all)
        if (wc_str_ends(*entry, ".dist-info"))
            s->p[s->n++] = (struct site_wheel){
                *entry,
                text_of_file(memory, files, wc_arena_format(memory, "%s/%s/RECORD", path, *entry))};
    return sites->first = s;
}

void sites_end(struct sites *sites) {
    if (sites->first)
        heap_arena_end(&sites->memory);
}
