/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <string.h>

struct listing {
    struct wc_arena *memory;
    struct entries all;
    size_t room;
};

static bool add_entry(void *listing, const char *name) {
    struct listing *l = listing;

    if (l->all.n == l->room) {
        const size_t room = 2 * l->room + 16;
        const char **p = wc_arena_take(l->memory, room * sizeof(*p));
        if (!p)
            return false;
        if (l->all.n)
            memcpy(p, l->all.p, l->all.n * sizeof(*p));
        l->all.p = p;
        l->room = room;
    }
    l->all.p[l->all.n++] = wc_arena_string(l->memory, name);
    return true;
}

struct entries entries_of(struct wc_arena *memory, const struct wc_files *files,
                          const char *directory) {
    struct listing l = {.memory = memory};

    files->list(files->ctx, directory, add_entry, &l);
    return l.all;
}

char *text_of_file(struct wc_arena *memory, const struct wc_files *files, const char *path) {
    static const size_t most = (size_t)16 << 20;
    struct wc_file_stat facts;
    char *text;
    size_t n;

    if (!files->facts(files->ctx, path, &facts) || facts.size > most ||
        !(text = wc_arena_take(memory, (size_t)facts.size + 1)) ||
        !files->read(files->ctx, path, 0, text, (size_t)facts.size, &n))
        return NULL;
    text[n] = '\0';
    return text;
}

bool is_of_system(const char *path) {
    return wc_str_starts(path, "/lib") || wc_str_starts(path, "/usr/lib");
}
