/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in the places of core/search/places.def. */
#include "search.h"

enum root { SITE, CONDA, CUDA, LOCAL };

static const struct {
    enum root root;
    const char *below;
} places[] = {
#define PLACE(root, below) {root, below},
#include "places.def"
};

#define LOCAL_DIRECTORY "/usr/local/"

struct looking {
    const struct wc_files *files;
    const char *name;
    bool (*each)(void *arg, const char *path);
    void *arg;
    char *path; /* WC_SEARCH_PATH bytes */
    bool over;
};

static void look_below(struct looking *l, const char *parent, const char *root, enum root kind) {
    struct wc_file_stat facts;
    for (size_t i = 0; i < sizeof places / sizeof *places && !l->over; i++)
        if (places[i].root == kind &&
            wc_str_format(l->path, WC_SEARCH_PATH, "%s%s%s%s%s", parent, root,
                          wc_str_ends(root, "/") ? "" : "/", places[i].below, l->name) &&
            l->files->facts(l->files->ctx, l->path, &facts) && facts.regular)
            l->over = !l->each(l->arg, l->path);
}

static bool each_local(void *arg, const char *name) {
    struct looking *l = arg;
    if (wc_str_starts(name, "cuda"))
        look_below(l, LOCAL_DIRECTORY, name, LOCAL);
    return !l->over;
}

static void look_in(struct looking *l, const char *const *roots, enum root kind) {
    for (; roots && *roots && !l->over; roots++)
        look_below(l, "", *roots, kind);
}

void wc_search_places(const struct wc_files *files, const struct wc_search_roots *roots,
                      const char *name, char *path, bool (*each)(void *arg, const char *path),
                      void *arg) {
    struct looking l = {files, name, each, arg, path, false};
    look_in(&l, roots->site, SITE);
    look_in(&l, roots->conda, CONDA);
    look_in(&l, roots->cuda, CUDA);
    if (!l.over)
        files->list(files->ctx, LOCAL_DIRECTORY, each_local, &l);
}
