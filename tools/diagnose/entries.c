/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <limits.h>
#include <string.h>

/* Its room is doubled where it is full: at 16 texts, 32, 64 and so on. */
void entries_add(struct wc_arena *memory, struct entries *to, const char *text) {
    const size_t n = to->n;
    const bool is_full = n == 0 || (n >= 16 && (n & (n - 1)) == 0);
    const char **p = is_full ? wc_arena_take(memory, ((n ? 2 * n : 16) + 1) * sizeof(*p)) : to->p;

    if (!p || !text)
        return;
    if (is_full && n)
        memcpy(p, to->p, n * sizeof(*p));
    p[to->n++] = text;
    p[to->n] = NULL;
    to->p = p;
}

void entries_add_new(struct wc_arena *memory, struct entries *to, const char *text) {
    if (!WC_ANY(known, *to, wc_str_same(*known, text)))
        entries_add(memory, to, text);
}

struct listing {
    struct wc_arena *memory;
    struct entries all;
};

static bool add_entry(void *listing, const char *name) {
    struct listing *l = listing;

    if (*name != '~') /* pip moves there what it uninstalls, and leaves it when interrupted */
        entries_add(l->memory, &l->all, wc_arena_string(l->memory, name));
    return true;
}

bool view_has(struct view v, const char *path) {
    struct wc_file_stat facts;

    return v.files->facts(v.files->ctx, path, &facts);
}

struct entries view_entries(struct view v, const char *directory) {
    struct listing l = {.memory = v.memory};

    if (directory)
        v.files->list(v.files->ctx, directory, add_entry, &l);
    return l.all;
}

const char *view_directory(struct view v, const char *path) {
    return view_format(v, "%.*s", (int)wc_dir_length(path), path);
}

const char *view_real_path(struct view v, const char *path) {
    char real[PATH_MAX];

    return v.files->real_path(v.files->ctx, path, real, sizeof(real))
               ? wc_arena_string(v.memory, real)
               : NULL;
}

char *view_text(struct view v, const char *path) {
    static const size_t most = (size_t)16 << 20;
    struct wc_file_stat facts;
    char *text;
    size_t n;

    if (!v.files->facts(v.files->ctx, path, &facts) || facts.size > most ||
        !(text = wc_arena_take(v.memory, (size_t)facts.size + 1)) ||
        !v.files->read(v.files->ctx, path, 0, text, (size_t)facts.size, &n))
        return NULL;
    text[n] = '\0';
    return text;
}

bool view_is_conda(struct view v, const char *path) {
    return view_has(v, view_format(v, "%s/conda-meta", path));
}

bool is_of_system(const char *path) {
    return wc_str_starts(path, "/lib") || wc_str_starts(path, "/usr/lib");
}

bool path_has_element(const char *path, const char *element, size_t n) {
    WC_EACH_ELEMENT(e, path, ":")
        if (e.n == n && strncmp(e.p, element, n) == 0)
            return true;
    return false;
}
