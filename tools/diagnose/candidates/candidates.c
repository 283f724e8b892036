/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"

#include <limits.h>
#include <string.h>

#include "making.h"

enum { CANDIDATES_MOST = 128 };

bool candidate_is_by_hand(const struct candidate *c) {
    return c->p[0].kind == EDIT_PLACE || c->p[0].kind == EDIT_RESTORE || c->p[0].kind == EDIT_COPY;
}

bool candidate_is_set(const struct candidate *c) {
    const struct edit *e = &c->p[0];

    return candidate_is_by_hand(c) && e->value && !wc_str_starts(e->value, "==");
}

void candidates_add(struct candidates *c, const struct candidate *one) {
    const bool known =
        WC_ANY(had, *c,
               had->n == one->n && !WC_ANY(e, *one, !edit_is_same(e, &had->p[e - one->p], false)));
    if (!known && c->n < CANDIDATES_MOST)
        *MUST_ADD(c->p, c->n) = *one;
}

/* ---- what makers share ---- */

void make_one(struct making *m, struct edit edit) {
    if (edit.kind != EDIT_SET || !wc_str_same(edit.name, "LD_LIBRARY_PATH") ||
        !wc_str_same(edit.value, m->path))
        candidates_add(m->out, &(struct candidate){{edit}, 1});
}

void make_two(struct making *m, struct edit first, struct edit second) {
    candidates_add(m->out, &(struct candidate){{first, second}, 2});
}

const char *make_directory_of(struct making *m, const char *path) {
    const char *from = path && path[0] != '/' ? m->s->process.directory : NULL;
    size_t n = path ? wc_dir_length(path) : 0;

    return n ? make_format(m, "%s%s%.*s", from ?: "", from ? "/" : "", (int)n, path) : NULL;
}

const char *make_real_path(struct making *m, const char *path) {
    return (path ? view_real_path(m->view, path) : NULL) ?: path;
}

/* site-packages, or another folder of packages, that a file is in; NULL: none. */
static const char *site_of_file(struct making *m, const char *path) {
    char scratch[4 * PATH_MAX];
    struct wc_reading reading;

    wc_reading_begin(&reading, m->view.files, scratch, sizeof(scratch));
    const char *site = path ? wc_distribution_site(&reading, path) : NULL;
    return site ? make_format(m, "%s", site) : NULL;
}

const char *make_prefix_of(struct making *m, const char *path) {
    for (size_t n = path ? wc_dir_length(path) : 0; n > 1; n = wc_dir_above(path, n)) {
        const char *prefix = make_format(m, "%.*s", (int)n, path);
        if (make_is_conda(m, prefix))
            return make_real_path(m, prefix);
    }
    return NULL;
}

const char *make_environment_of(struct making *m, const char *path) {
    return make_real_path(m, site_of_file(m, path)) ?: make_prefix_of(m, path);
}

/* Each is as in "DT_RUNPATH /x/lib/ (not there)". */
struct entries make_searched(struct making *m, const struct wc_failure *failure) {
    const struct wc_searched *search = wc_search_in_vain(m->s, failure);
    struct entries all = {NULL, 0};

    if (search)
        WC_EACH(looked, search->r.searched) {
            const char *at = strstr(*looked, " /");
            size_t n = at ? (size_t)(strrchr(at, '/') - at) : 0;
            while (n > 1 && at[n] == '/')
                n--;
            if (n > 1)
                entries_add(m->view.memory, &all, make_format(m, "%.*s", (int)n, at + 1));
        }
    return all;
}

const char *make_place_of_dead_link(struct making *m, const char *file) {
    const char *directory = make_directory_of(m, file);

    return !strstr(file, "/../") && !make_is_there(m, file) && /* a list may name any place */
                   ANY_ENTRY(entry, make_entries(m, directory),
                             strcmp(*entry, wc_base_name(file)) == 0)
               ? directory
               : NULL;
}

bool make_matters(const struct making *m, const char *what) {
    return WC_ANY(
        f, m->base->of_end,
        WC_ANY(fact, f->facts, fact->value && wc_str_same(wc_base_name(fact->value), what)));
}

struct edit make_reinstall(struct making *m, const struct wc_package_record *p) {
    const char *place = NULL; /* where files of it are links that lead nowhere */

    WC_EACH(name, p->missing)
        if (!place && p->prefix)
            place = make_place_of_dead_link(m, make_format(m, "%s/%s", p->prefix, *name));
    return (struct edit){.kind = EDIT_REINSTALL,
                         .name = p->package,
                         .value = p->package_version,
                         .path = place,
                         .environment = make_real_path(m, p->prefix)};
}

struct edit make_install(const char *package, const char *spec, const char *environment) {
    return (struct edit){
        .kind = EDIT_INSTALL, .name = package, .value = spec, .environment = environment};
}

const char *make_module_of(struct making *m, const char *path) {
    const char *site = site_of_file(m, path), *below;

    if (!site)
        return wc_base_name(path);
    below = path + strlen(site) + 1;
    below = make_format(m, "%.*s", (int)strcspn(below, strchr(below, '/') ? "/" : "."), below);
    return wc_str_ends(below, ".libs") /* next to what is imported */
               ? make_format(m, "%.*s", (int)(strlen(below) - strlen(".libs")), below)
               : below;
}

void make_import_before(struct making *m, const char *first, const char *then, const char *file) {
    const char *a = make_module_of(m, first), *b = make_module_of(m, then);

    if (a && b && strcmp(a, b) != 0)
        make_one(m, (struct edit){.kind = EDIT_IMPORT_FIRST, .name = a, .value = b, .path = file});
}
