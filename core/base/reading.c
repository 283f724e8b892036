/* SPDX-License-Identifier: Apache-2.0 */
/* Reading text files in pieces (reading.h). */
#include "reading.h"

void wc_reading_begin(struct wc_reading *r, const struct wc_files *files, void *scratch,
                      size_t size) {
    r->files = files;
    wc_buffer_arena_begin(&r->memory, scratch, size / 2);
    r->window = (char *)scratch + size / 2;
    r->window_size = size - size / 2;
}

bool wc_reading_exists(struct wc_reading *r, const char *path) {
    struct wc_file_stat facts;
    return path && r->files->facts(r->files->ctx, path, &facts);
}

struct names {
    struct wc_reading *r;
    const char *dir, *ending;
    bool (*fits)(void *ctx, const char *name);
    void *ctx;
    const char **path;
    size_t n, most;
};

static bool keep_name(void *arg, const char *name) {
    struct names *l = arg;
    if (wc_str_ends(name, l->ending) && l->fits(l->ctx, name)) {
        l->path[l->n] = wc_reading_format(l->r, "%s/%s", l->dir, name);
        l->n += l->path[l->n] != NULL;
    }
    return l->n < l->most;
}

bool wc_reading_names(struct wc_reading *r, const char *dir, const char *ending,
                      bool (*fits)(void *ctx, const char *name), void *ctx, const char **path,
                      size_t most, size_t *n) {
    struct names l = {r, dir, ending, fits, ctx, path, 0, most};
    bool listed = dir && r->files->list(r->files->ctx, dir, keep_name, &l);
    *n = l.n;
    return listed;
}

uint64_t wc_reading_find(struct wc_reading *r, const char *path, uint64_t from, const char *text,
                         bool at_line) {
    const char *w = r->window;
    size_t length = text ? wc_str_length(text) : 0, n;
    bool first = from == 0; /* the window begins a line */
    uint64_t at;
    if (!path || !length || length + 1 >= r->window_size || from == WC_NOWHERE)
        return WC_NOWHERE;
    if (r->files->find && r->files->find(r->files->ctx, path, from, text, at_line, &at))
        return at;
    while (from < WC_READING_MOST &&
           r->files->read(r->files->ctx, path, from, r->window, r->window_size, &n)) {
        for (size_t i = 0; i + length <= n; i++)
            if (w[i] == text[0] && (!at_line || (i ? w[i - 1] == '\n' : first)) &&
                wc_mem_compare(w + i, text, length) == 0)
                return from + i;
        if (n < r->window_size)
            return WC_NOWHERE;
        /* The next window begins with the end of this one, where the text may have been cut, and
         * with the character before it. */
        size_t step = n - length;
        first = w[step - 1] == '\n';
        from += step;
    }
    return WC_NOWHERE;
}

bool wc_reading_line(struct wc_reading *r, const char *path, uint64_t at, char *to, size_t cap) {
    size_t n = 0;
    if (!path || !r->files->read(r->files->ctx, path, at, to, cap - 1, &n) || !n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (to[i] == '\n' || to[i] == '\r' || !to[i])
            n = i;
    to[n] = 0;
    return true;
}

bool wc_reading_value(struct wc_reading *r, const char *path, uint64_t from, const char *text,
                      bool at_line, char *to, size_t cap) {
    uint64_t at = wc_reading_find(r, path, from, text, at_line);
    return at != WC_NOWHERE && wc_reading_line(r, path, at + wc_str_length(text), to, cap);
}

bool wc_reading_each(struct wc_reading *r, const char *path, const char *separators,
                     bool (*each)(void *ctx, const char *piece), void *ctx) {
    uint64_t ends[4] = {1}; /* bits of the characters at which a piece ends, NUL among them */
    size_t n, most = r->window_size - 1; /* the last piece needs an end */
    uint64_t from = 0;
    bool good = path != NULL, last = false;
    bool skip = false; /* the window begins with the rest of a piece that was too long */
    for (const char *s = separators; *s; s++)
        ends[(unsigned char)*s / 64] |= 1ull << (unsigned char)*s % 64;
    while (good && !last && from < WC_READING_MOST &&
           (good = r->files->read(r->files->ctx, path, from, r->window, most, &n))) {
        size_t piece = 0; /* where it begins; the last one is cut by the end of the window */
        last = n < most;
        if (last)
            r->window[n++] = 0;
        for (size_t i = 0; i < n; i++) {
            const unsigned char c = (unsigned char)r->window[i];
            if (!(ends[c / 64] >> c % 64 & 1))
                continue;
            r->window[i] = 0;
            if (i > piece && !skip && !each(ctx, r->window + piece))
                return true;
            skip = false;
            piece = i + 1;
        }
        skip = piece == 0;
        from += piece ? piece : n;
    }
    return good;
}
