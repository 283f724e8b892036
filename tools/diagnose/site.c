/* SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include <stdlib.h>
#include <string.h>

#include "core/packages/installation.h"
#include "entries.h"
#include "wheels.h"

const char *without_blanks(struct wc_arena *memory, const char *text, size_t n) {
    char *to = wc_arena_string_n(memory, text, n), *end = to;

    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ')
            *end++ = text[i];
    *end = '\0';
    return to;
}

/* Its headers end with an empty line. */
void requirements_add(struct requirements *to, struct wc_arena *memory, const char *by,
                      char *metadata) {
    struct wc_requirement q;

    while (metadata && *metadata && *metadata != '\n') {
        const char *line = strsep(&metadata, "\n");
        if (wc_requirement_read(line, &q))
            *MUST_ADD(to->p, to->n) =
                (struct requirement){by, wc_arena_string_n(memory, q.name, q.name_length),
                                     without_blanks(memory, q.spec, q.spec_length),
                                     q.marker && strstr(q.marker, "extra ")};
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
        requirements_add(&s->requires, memory, *entry, text_of_file(memory, files, file));
    }
    return sites->first = s;
}

char *site_record(struct wc_arena *memory, const struct wc_files *files, const char *folder) {
    const char *file = wc_arena_format(memory, "%s/RECORD", folder);
    char *record = text_of_file(memory, files, file);
    struct wc_distribution d;

    if (record || !wc_distribution_take(&d, "", wc_base_name(folder), ""))
        return record;
    const struct wheel_list all = wheel_list(memory, d.name, wheel_version(d.version));
    WC_EACH(known, all)
        record = wc_arena_format(memory, "%s%s,,\n", record ?: "", known->file);
    return record;
}

size_t site_listed(struct sites *sites, const struct wc_files *files, struct site *site,
                   const char *name, struct site_file *out, size_t most) {
    struct wc_arena *memory = &sites->memory.arena;
    const char *key = wc_arena_format(memory, "%s,", name);
    size_t n = 0;

    for (size_t i = 0; i < site->n; i++) {
        struct site_wheel *wheel = &site->p[i];
        if (!wheel->record)
            wheel->record = site_record(memory, files,
                                        wc_arena_format(memory, "%s/%s", site->path, wheel->info));
        for (const char *at = wheel->record; at && n < most && (at = strstr(at, key)); at++)
            if (at == wheel->record || at[-1] == '/' || at[-1] == '\n') {
                /* "nvidia/cublas/lib/libcublasLt.so.12,sha256=...,1024" */
                const char *line = at, *comma = strchr(at + strcspn(at, ",") + 1, ',');
                while (line > wheel->record && line[-1] != '\n')
                    line--;
                out[n++] = (struct site_file){wheel->info,
                                              wc_arena_string_n(memory, line, strcspn(line, ",")),
                                              comma ? strtoull(comma + 1, NULL, 10) : 0};
            }
    }
    return n;
}

bool requirement_is_known(const struct requirement *q) {
    return !q->extra &&
           (wc_str_starts(q->package, "nvidia-") || wc_str_starts(q->package, "cuda-"));
}

bool requirement_refuses(const struct requirement *q, const char *version) {
    return wc_text_accepts(q->spec, wc_version_of(version)) == WC_NO;
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
