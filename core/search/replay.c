/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include "core/knowledge/frameworks.h"

static const char *keep(struct wc_replay *r, const char *text) {
    return wc_arena_string(&r->memory.arena, text);
}

static void note_directory(struct wc_replay *r, const struct wc_search_candidate *c) {
    const char *directory = c->directory && c->directory[0] ? c->directory : ".";
    if (!c->directory || c->in_subdirectory)
        return;
    if (r->searched_count == WC_REPLAY_SEARCHED) {
        r->searched_more++;
        return;
    }
    wc_str_format(r->room, sizeof r->room, "%s %s%s", wc_enum_word(WC_ENUM_search_rule, c->rule),
                  c->directory[0] ? directory : "./", c->no_directory ? " (not there)" : "");
    r->directory[r->searched_count] = keep(r, directory);
    r->is_there[r->searched_count] = !c->no_directory;
    r->rule[r->searched_count] = c->rule;
    r->searched[r->searched_count++] = keep(r, r->room);
}

static bool same_file(const struct wc_file_stat *a, const struct wc_file_stat *b) {
    return a->inode == b->inode && a->device == b->device;
}

static bool note_candidate(void *replay, const struct wc_search_candidate *c) {
    struct wc_replay *r = replay;
    struct wc_replay_file *f = &r->taken;
    struct wc_file_stat facts;
    if (!c->beaten)
        note_directory(r, c);
    if (c->state == WC_file_state_NOTHING || !r->files->facts(r->files->ctx, c->path, &facts))
        return true;
    if (c->state != WC_file_state_FITS || c->beaten || c->rule == WC_search_rule_NOT_SEARCHED) {
        /* By another way to the same file it is not another candidate. */
        bool noted = (wc_replay_taken(r) && same_file(&r->taken.facts, &facts)) ||
                     WC_ANY(one, WC_ITEMS(r->other, r->others), same_file(&one->facts, &facts));
        bool full = r->others == WC_REPLAY_CANDIDATES;
        r->others_more += !noted && full;
        if (noted || full)
            return true;
        f = &r->other[r->others];
    }
    const char *path = keep(r, c->path);
    r->others += path && f != &r->taken;
    r->others_more += !path;
    f->c = *c;
    f->c.path = path;
    f->c.element = keep(r, c->element);
    f->facts = facts;
    return true;
}

void wc_replay_run(struct wc_replay *r, const struct wc_search_context *context,
                   const struct wc_search_object *caller, const char *name, void *scratch,
                   size_t scratch_size) {
    wc_mem_set(r, 0, offsetof(struct wc_replay, identity));
    r->files = context->files;
    wc_buffer_arena_begin(&r->memory, r->texts, sizeof r->texts);
    wc_search(context, caller, name, scratch, scratch_size, note_candidate, r);
}

const char *wc_replay_taken(const struct wc_replay *r) {
    return r->taken.c.path;
}

const char *wc_replay_passed(const struct wc_replay *r, size_t i) {
    WC_EACH(f, WC_ITEMS(r->other, r->others))
        if (!f->c.beaten && f->c.state != WC_file_state_FITS && i-- == 0)
            return f->c.path;
    return NULL;
}

const char *wc_replay_wanted(struct wc_replay *r, size_t i, const char *name) {
    const char *in = i < r->searched_count ? r->directory[i] : NULL;
    return in && wc_str_format(r->room, sizeof r->room, "%s%s%s", in,
                               wc_str_ends(in, "/") ? "" : "/", name)
               ? r->room
               : NULL;
}

bool wc_replay_takes(const struct wc_replay *r, const char *path, uint64_t device, uint64_t inode) {
    return wc_replay_taken(r) &&
           (wc_str_same(r->taken.c.path, path) ||
            (inode && r->taken.facts.inode == inode && r->taken.facts.device == device));
}

/* ---- copies that the loader does not look at ---- */

/* Where copies of cuDNN, and of what it works with, are known to lie: what a user has installed and
 * thinks of. Directories below a root: a site-packages or dist-packages directory of the process;
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

static void take_variable(struct wc_replay *r, const char **list, size_t most, const char *name,
                          const char *variable) {
    size_t n = wc_str_length(name), i = 0;
    while (i < most && list[i])
        i++;
    if (i < most && wc_str_starts(variable, name) && variable[n])
        list[i] = keep(r, variable + n);
}

void wc_replay_root(struct wc_replay *r, const char *variable) {
    take_variable(r, r->conda, 1, "CONDA_PREFIX=", variable);
    take_variable(r, r->cuda, 2, "CUDA_HOME=", variable);
    take_variable(r, r->cuda, 2, "CUDA_PATH=", variable);
}

/* Where lib64 is not a link, NVIDIA's wheels go to lib all the same: they count as pure. */
void wc_replay_site(struct wc_replay *r, const char *path) {
    const char *at = wc_str_find(path, "/site-packages/") ?: wc_str_find(path, "/dist-packages/");
    const char *lib = wc_str_find(path, "/lib64/python");
    struct wc_arena *a = &r->memory.arena;
    size_t n = at ? (size_t)(at - path) + wc_str_length("/site-packages/") : 0, i = 0;
    while (n && i < WC_REPLAY_SITES && r->site[i] &&
           (wc_str_length(r->site[i]) != n || wc_mem_compare(r->site[i], path, n) != 0))
        i++;
    if (!n || i == WC_REPLAY_SITES || r->site[i])
        return;
    r->site[i] = wc_arena_string_n(a, path, n);
    if (lib && lib < at && r->site[i])
        wc_replay_site(r, wc_arena_format(a, "%.*s/lib%s", (int)(lib - path), path,
                                          r->site[i] + (lib - path) + wc_str_length("/lib64"))
                              ?: "");
}

void wc_replay_copy(struct wc_replay *r, const char *path) {
    note_candidate(r, &(struct wc_search_candidate){.rule = WC_search_rule_NOT_SEARCHED,
                                                    .state = WC_file_state_FITS,
                                                    .path = path});
}

struct looking {
    struct wc_replay *replay;
    const char *name;
    char *path; /* WC_SEARCH_PATH bytes */
};

static void look_at(const struct looking *l, const char *parent, const char *root,
                    const char *below) {
    const struct wc_files *files = l->replay->files;
    struct wc_file_stat facts;
    if (wc_str_format(l->path, WC_SEARCH_PATH, "%s%s%s%s%s", parent, root,
                      wc_str_ends(root, "/") ? "" : "/", below, l->name) &&
        files->facts(files->ctx, l->path, &facts) && facts.regular)
        wc_replay_copy(l->replay, l->path);
}

static void look_below(const struct looking *l, const char *parent, const char *root,
                       enum root kind) {
    WC_EACH_ROW(place, places)
        if (place->root == kind)
            look_at(l, parent, root, place->below);
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->copies, within)
            if (kind == SITE && row->by_soname)
                look_at(l, parent, root, row->within + 1);
}

static bool each_local(void *looking, const char *name) {
    if (wc_str_starts(name, "cuda"))
        look_below(looking, LOCAL_DIRECTORY, name, LOCAL);
    return true;
}

void wc_replay_copies(struct wc_replay *r, const char *name, const char *caller) {
    const char *const *const roots[] = {[SITE] = r->site, [CONDA] = r->conda, [CUDA] = r->cuda};
    size_t n = wc_dir_length(caller);
    struct looking l = {r, name, wc_arena_take(&r->memory.arena, WC_SEARCH_PATH)};
    const char *beside = n ? wc_arena_string_n(&r->memory.arena, caller, n) : ".";
    if (!l.path || !beside)
        return;
    look_at(&l, "", beside, "");
    for (enum root kind = SITE; kind <= CUDA; kind++)
        for (const char *const *root = roots[kind]; *root; root++)
            look_below(&l, "", *root, kind);
    r->files->list(r->files->ctx, LOCAL_DIRECTORY, each_local, &l);
}
