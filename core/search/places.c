/* SPDX-License-Identifier: Apache-2.0 */
/* Where copies of cuDNN, and of what it works with, are known to lie, whether the loader looks
 * there or not: what a user has installed and thinks of. */
#include "core/knowledge/frameworks.h"
#include "search.h"

/* Directories below a root: a site-packages or dist-packages directory of the process;
 * $CONDA_PREFIX; $CUDA_HOME, $CUDA_PATH; each directory of /usr/local whose name begins with
 * "cuda". */
static const struct {
    enum root { SITE, CONDA, CUDA, LOCAL } root;
    const char *below;
} places[] = {
    {SITE, "nvidia/cudnn/lib/"},
    {SITE, "nvidia/cu13/lib/"},
    {SITE, "nvidia/cublas/lib/"},
    {SITE, "nvidia/cuda_nvrtc/lib/"},
    {SITE, "nvidia/cuda_runtime/lib/"},
    {SITE, "nvidia/nvjitlink/lib/"},
    {CONDA, "lib/"},
    {CUDA, "lib64/"},
    {CUDA, "targets/x86_64-linux/lib/"},
    {CUDA, "targets/sbsa-linux/lib/"},
    {LOCAL, "lib64/"},
    {LOCAL, "targets/x86_64-linux/lib/"},
    {LOCAL, "targets/sbsa-linux/lib/"},
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

static void look_at(struct looking *l, const char *parent, const char *root, const char *below) {
    struct wc_file_stat facts;
    if (!l->over &&
        wc_str_format(l->path, WC_SEARCH_PATH, "%s%s%s%s%s", parent, root,
                      wc_str_ends(root, "/") ? "" : "/", below, l->name) &&
        l->files->facts(l->files->ctx, l->path, &facts) && facts.regular)
        l->over = !l->each(l->arg, l->path);
}

static void look_below(struct looking *l, const char *parent, const char *root, enum root kind) {
    WC_EACH_ROW(place, places)
        if (place->root == kind)
            look_at(l, parent, root, place->below);
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->copies, within)
            if (kind == SITE && row->by_soname)
                look_at(l, parent, root, row->within + 1);
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
