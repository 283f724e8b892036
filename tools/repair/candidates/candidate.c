/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"
#include "find.h"

#include <limits.h>

enum { CANDIDATES_MOST = 128 };

static bool is_same_edit(const struct edit *a, const struct edit *b) {
    return a->kind == b->kind && wc_str_same(a->name, b->name) && wc_str_same(a->value, b->value) &&
           wc_str_same(a->path, b->path) && wc_str_same(a->target, b->target) &&
           wc_str_same(a->environment, b->environment);
}

static bool is_known(const struct candidates *c, const struct candidate *one) {
    for (size_t i = 0; i < c->n; i++) {
        bool same = c->p[i].n == one->n;
        for (size_t k = 0; same && k < one->n; k++)
            same = is_same_edit(&c->p[i].edit[k], &one->edit[k]);
        if (same)
            return true;
    }
    return false;
}

bool candidate_is_by_hand(const struct candidate *c) {
    return c->edit[0].kind == EDIT_PLACE || c->edit[0].kind == EDIT_RESTORE;
}

bool candidate_is_set(const struct candidate *c) {
    const struct edit *e = &c->edit[0];

    return candidate_is_by_hand(c) && e->value && !wc_str_starts(e->value, "==");
}

void candidates_add(struct candidates *c, const struct candidate *one) {
    if (c->n < CANDIDATES_MOST && !is_known(c, one))
        *MUST_ADD(c->p, c->n) = *one;
}

void find_add(struct finding_of *f, struct edit edit) {
    if (edit.kind == EDIT_SET && wc_str_same(edit.name, "LD_LIBRARY_PATH") &&
        wc_str_same(edit.value, f->path))
        return; /* it has that value */
    candidates_add(f->out, &(struct candidate){{edit}, 1});
}

void find_add_two(struct finding_of *f, struct edit first, struct edit second) {
    candidates_add(f->out, &(struct candidate){{first, second}, 2});
}

const char *find_directory_of(struct finding_of *f, const char *path) {
    size_t n = path ? wc_dir_length(path) : 0;

    return n ? find_format(f, "%.*s", (int)n, path) : NULL;
}

const char *find_real_path(struct finding_of *f, const char *path) {
    char real[PATH_MAX];

    return f->files->real_path(f->files->ctx, path, real, sizeof(real)) ? find_format(f, "%s", real)
                                                                        : path;
}
