/* SPDX-License-Identifier: Apache-2.0 */
/* Conda environments (installation.h): PREFIX/conda-meta/NAME-VERSION-BUILD.json lists the files.
 */
#include "installation.h"

enum { LEVELS = 8, MOST_RECORDS = 16 };

struct search {
    struct wc_reading *r;
    bool (*fits)(void *ctx, const char *record);
    void *ctx;
    const char *prefix, *meta;
    const char *record[MOST_RECORDS];
    size_t n;
};

static bool collect(void *arg, const char *name) {
    struct search *s = arg;
    if (s->n < MOST_RECORDS && wc_str_ends(name, ".json") && s->fits(s->ctx, name)) {
        s->record[s->n] = wc_reading_copy(s->r, name, wc_str_length(name));
        s->n += s->record[s->n] != NULL;
    }
    return true;
}

/* Is path[0..length) an environment? Then its records that fit are listed. */
static bool list_records(struct search *s, const char *path, size_t length) {
    s->n = 0;
    s->prefix = wc_reading_copy(s->r, path, length);
    s->meta = s->prefix ? wc_reading_format(s->r, "%s/conda-meta", s->prefix) : NULL;
    return s->meta && s->r->files->list(s->r->files->ctx, s->meta, collect, s);
}

/* The name may hold dashes, version and build cannot. */
static void read_record(struct search *s, size_t i, struct wc_conda_package *out) {
    const char *record = s->record[i];
    size_t end = wc_str_length(record) - wc_str_length(".json"), build = end, version, name;
    while (build && record[build - 1] != '-')
        build--;
    version = build ? build - 1 : 0;
    while (version && record[version - 1] != '-')
        version--;
    name = version ? version - 1 : 0;
    out->prefix = s->prefix;
    out->record = wc_reading_format(s->r, "%s/%s", s->meta, record);
    wc_str_format(out->name, sizeof out->name, "%.*s", (int)name, record);
    wc_str_format(out->version, sizeof out->version, "%.*s",
                  build > version ? (int)(build - 1 - version) : 0, record + version);
    wc_str_format(out->build, sizeof out->build, "%.*s", (int)(end - build), record + build);
}

static bool lists(struct search *s, const struct wc_conda_package *p, const char *relative) {
    size_t mark = s->r->memory.used;
    const char *quoted = wc_reading_format(s->r, "\"%s\"", relative);
    bool found = quoted && wc_reading_find(s->r, p->record, 0, quoted, false) != WC_NOWHERE;
    s->r->memory.used = mark;
    return found;
}

size_t wc_conda_packages(struct wc_reading *r, const char *path, bool owner,
                         bool (*fits)(void *ctx, const char *record), void *ctx,
                         struct wc_conda_package *out, size_t most) {
    size_t mark = r->memory.used, length = wc_dir_length(path), n = 0;
    struct search *s = wc_arena_take(&r->memory.arena, sizeof *s);
    if (!s)
        return 0;
    *s = (struct search){.r = r, .fits = fits, .ctx = ctx};
    size_t inner = r->memory.used;
    for (int level = 0; level < LEVELS && length > 1 && !n; level++) {
        r->memory.used = inner;
        bool is_environment = list_records(s, path, length);
        for (size_t i = 0; is_environment && i < s->n && n < most; i++) {
            read_record(s, i, &out[n]);
            n += !owner || lists(s, &out[n], path + length + 1);
        }
        if (is_environment && !owner)
            break;
        length = wc_dir_above(path, length);
    }
    if (!n)
        r->memory.used = mark;
    return n;
}
