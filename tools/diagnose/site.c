/* SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include <stdlib.h>
#include <string.h>

#include "core/packages/distribution.h"
#include "entries.h"

/* As package managers take it: "<10, >=9.8" without the blank. */
static const char *without_blanks(struct wc_arena *memory, const char *text, size_t n) {
    char *to = wc_arena_string_n(memory, text, n), *end = to;

    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ')
            *end++ = text[i];
    *end = '\0';
    return to;
}

/* From the headers of METADATA, which end with an empty line. */
static void add_requirements(struct site *s, struct wc_arena *memory, const char *info,
                             char *metadata) {
    struct wc_requirement q;

    while (metadata && *metadata && *metadata != '\n') {
        const char *line = strsep(&metadata, "\n");
        if (wc_requirement_read(line, &q))
            *MUST_ADD(s->requires.p, s->requires.n) =
                (struct requirement){info, wc_arena_string(memory, q.normal),
                                     without_blanks(memory, q.spec, q.spec_length)};
    }
}

struct site *site_of(struct sites *sites, const struct wc_files *files, const char *path) {
    struct wc_arena *memory = &sites->memory.arena;
    struct entries all;
    struct site *s;

    for (s = sites->first; s; s = s->next)
        if (wc_str_same(s->path, path))
            return s;
    if (!sites->first)
        heap_arena_begin(&sites->memory);
    all = entries_of(memory, files, path);
    s = must_allocate(sizeof(*s));
    *s = (struct site){.next = sites->first, .path = wc_arena_string(memory, path)};
    WC_EACH(entry, all) {
        const char *file = wc_arena_format(memory, "%s/%s/METADATA", path, *entry);
        if (!wc_str_ends(*entry, ".dist-info"))
            continue;
        *MUST_ADD(s->p, s->n) = (struct site_wheel){.info = *entry};
        add_requirements(s, memory, *entry, text_of_file(memory, files, file));
    }
    return sites->first = s;
}

const char *site_record(struct sites *sites, const struct wc_files *files, struct site *site,
                        size_t i) {
    struct wc_arena *memory = &sites->memory.arena;
    struct site_wheel *wheel = &site->p[i];

    if (!wheel->record)
        wheel->record = text_of_file(
            memory, files, wc_arena_format(memory, "%s/%s/RECORD", site->path, wheel->info));
    return wheel->record;
}

void sites_end(struct sites *sites) {
    struct site *next;

    if (sites->first)
        heap_arena_end(&sites->memory);
    for (struct site *s = sites->first; s; s = next) {
        next = s->next;
        free(s->p);
        free(s->requires.p);
        free(s);
    }
}
