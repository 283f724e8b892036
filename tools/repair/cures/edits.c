/* SPDX-License-Identifier: Apache-2.0 */
#include "cures.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/findings/finding.h"
#include "tools/repair/rules.h"
#include "tools/repair/wheel_table.h"

bool cures_is_beyond_files(const struct planning *p, const struct candidate *c,
                           const struct wc_finding_record *f) {
    bool files = false;

    for (size_t i = 0; i < c->n; i++)
        files = files || c->edit[i].kind == EDIT_INSTALL || c->edit[i].kind == EDIT_REINSTALL ||
                c->edit[i].kind == EDIT_PLACE || c->edit[i].kind == EDIT_RESTORE;
    return files && (has_rule(f->id, NO_FILES) ||
                     WC_ANY(known, p->base.findings,
                            has_rule(known->id, NO_FILES) && known->severity >= f->severity));
}

/* The directory that an edit writes to; NULL: to none, or that is not known. */
static const char *written_by(struct planning *p, const struct edit *e) {
    switch (e->kind) {
    case EDIT_INSTALL:
    case EDIT_REINSTALL:
    case EDIT_REMOVE:
        return e->environment;
    case EDIT_PLACE:
    case EDIT_RESTORE:
    case EDIT_LINKS:
        return e->path;
    case EDIT_LINK:
    case EDIT_DELETE:
        return wc_arena_format(p->candidates.memory, "%.*s", (int)wc_dir_length(e->path), e->path);
    case EDIT_MODE:
        return e->path;
    default:
        return NULL;
    }
}

bool cures_is_refused(struct planning *p, const struct edit *e, int reason) {
    const char *root = p->replay.library_cache.disk.root, *path = written_by(p, e);

    return path && path[0] == '/' &&
           access(wc_arena_format(p->candidates.memory, "%s%s", root, path), W_OK) != 0 &&
           errno == reason;
}

bool cures_is_read_only(struct planning *p, const struct candidate *c) {
    for (size_t i = 0; i < c->n; i++)
        if (cures_is_refused(p, &c->edit[i], EROFS))
            return true;
    return false;
}

bool cures_wants_unknown(const struct candidate *c, const struct wc_finding_record *f) {
    const struct wc_fact *refused = WC_FIRST(one, f->facts, wc_str_same(one->name, "refused"));
    const struct wc_fact *library = WC_FIRST(one, f->facts, wc_str_same(one->name, "library"));

    const char *file = library ? library->value : NULL;
    bool again = false;

    if (has_rule(f->id, OTHER_RELEASE) && c->edit[0].kind == EDIT_PLACE &&
        wc_name_kind_of(c->edit[0].name) == WC_NAME_CUDA_DEPENDENCY)
        return true;
    for (size_t i = 0; i < c->n; i++)
        again = again || c->edit[i].kind == EDIT_REINSTALL || c->edit[i].kind == EDIT_INSTALL ||
                (c->edit[i].kind == EDIT_RESTORE && refused &&
                 wc_name_kind_of(refused->value) == WC_NAME_FACADE);
    return again && has_rule(f->id, OTHER_RELEASE) && refused && file &&
           wc_name_is_cudnn(refused->value) && wc_name_kind_of(file) == WC_NAME_OTHER;
}

/* For which CUDA such an edit brings cuDNN anew, without what it needs; -1: not said. */
static int32_t cuda_anew(const struct edit *e) {
    const int32_t named = e->name ? wc_cuda_in_package(e->name) : -1;

    if (e->target && wc_is_digit(e->target[0]))
        return (int32_t)strtol(e->target, NULL, 10);
    return named > 0 || !e->value ? named : wc_cuda_in_package(e->value);
}

/* NVIDIA's wheels have CUDA's libraries. */
static bool installs_cuda(const struct candidate *c) {
    for (size_t i = 0; i < c->n; i++)
        if (c->edit[i].kind == EDIT_INSTALL && wc_str_starts(c->edit[i].name, "nvidia-") &&
            !wc_str_starts(c->edit[i].name, "nvidia-cudnn"))
            return true;
    return false;
}

bool cures_needs_the_same(const struct candidate *c, const struct wc_finding_record *f) {
    const struct wc_fact *missing = WC_FIRST(one, f->facts, wc_str_same(one->name, "missing"));
    const char *name = missing && has_rule(f->id, OWN_NEEDS) ? missing->value : NULL;

    if (name && wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && installs_cuda(c))
        return false;
    for (size_t i = 0; name && i < c->n; i++) {
        const struct edit *e = &c->edit[i];
        const bool anew = e->kind == EDIT_REINSTALL || e->kind == EDIT_RESTORE ||
                          (e->kind == EDIT_PLACE && wc_str_same(e->name, "cudnn"));
        if ((anew || e->kind == EDIT_INSTALL) && !wheel_cudnn_needs(name))
            return true;
        if (anew && wc_name_cuda(name) > 0 &&
            (cuda_anew(e) <= 0 || wc_name_cuda(name) == cuda_anew(e)))
            return true;
    }
    return false;
}

bool cures_takes_back(const struct candidate *c) {
    return c->n == 1 && c->edit[0].kind == EDIT_UNSET &&
           wc_str_starts(c->edit[0].name, "WHICHCUDNN_");
}

bool cures_removes_unused(const struct planning *p, const struct candidate *c,
                          const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->base.source->stack;

    if (c->n != 1 || c->edit[0].kind != EDIT_REMOVE)
        return false;
    return has_rule(f->id, PACKAGE_STAYS) ||
           !WC_ANY(o, s->objects, o->r.mapped && wc_str_same(o->r.installation, c->edit[0].name));
}

bool cures_is_variables_alone(const struct candidate *c) {
    for (size_t i = 0; i < c->n; i++)
        if (c->edit[i].kind != EDIT_SET && c->edit[i].kind != EDIT_UNSET)
            return false;
    return true;
}

bool cures_is_by_hand(const struct candidate *c) {
    return c->edit[0].kind == EDIT_PLACE || c->edit[0].kind == EDIT_RESTORE;
}

bool cures_is_set(const struct candidate *c) {
    const struct edit *e = &c->edit[0];

    return cures_is_by_hand(c) && e->value && !wc_str_starts(e->value, "==");
}
