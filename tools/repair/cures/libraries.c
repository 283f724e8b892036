/* SPDX-License-Identifier: Apache-2.0 */
#include "cures.h"

#include <stdlib.h>
#include <string.h>

#include "core/findings/finding.h"
#include "tools/repair/rules.h"

bool cures_is_harmless(const struct planning *p, const struct outcome *o) {
    if ((p->base.starts && !o->starts) || o->torn > p->base.torn)
        return false;
    for (size_t i = 0; i < p->replay.n; i++)
        if (!p->replay.requests[i].failure && p->base.got[i].files && !o->got[i].files)
            return false;
    return true;
}

bool cures_changes_nothing(const struct planning *p, const struct played *x) {
    const struct wc_stack *before = &p->base.source->stack, *s = &x->outcome.source->stack;

    for (size_t i = 0; i < p->replay.n; i++)
        if (p->base.got[i].files != x->outcome.got[i].files)
            return false;
    return before->failures.n == s->failures.n && before->objects.n == s->objects.n &&
           !WC_ANY(o, s->objects,
                   !WC_ANY(was, before->objects,
                           was->r.inode == o->r.inode && was->r.device == o->r.device &&
                               wc_str_same(was->r.asked_by, o->r.asked_by)));
}

/* Of the facade's own package, or of one of which nothing came in. */
static bool lacks_own_file(const struct planning *p, const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->source->stack, *replayed = &p->base.source->stack;
    const struct wc_object *o = f->object == WC_NULL ? NULL : wc_stack_object(s, f->object);

    WC_EACH(known, p->base.findings) {
        const struct wc_object *of =
            known->object == WC_NULL ? NULL : wc_stack_object(replayed, known->object);
        if (has_rule(known->id, NO_VARIABLE | PACKAGE_STAYS) &&
            (!o || !of || wc_same_installation(o, of)))
            return true;
    }
    return false;
}

bool cures_leaves_installation(const struct planning *p, const struct candidate *c,
                               const struct wc_finding_record *f) {
    return cures_is_variables_alone(c) &&
           (has_rule(f->id, NO_VARIABLE) || (has_rule(f->id, TORN) && lacks_own_file(p, f)));
}

/* What is demanded of it by a package, or by what a host was built with: then who refuses it is
 * known. */
static bool is_demanded(const struct wc_stack *s) {
    return WC_ANY(d, s->demands,
                  d->r.demand_kind == WC_demand_kind_REQUIRED ||
                      d->r.demand_kind == WC_demand_kind_BUILT);
}

bool cures_takes_older(const struct planning *p, const struct played *x,
                       const struct wc_finding_record *f) {
    const struct wc_object *had =
        WC_FIRST(o, p->base.source->stack.objects, o->r.role == WC_role_FACADE);
    const struct wc_object *gets =
        WC_FIRST(o, x->outcome.source->stack.objects, o->r.role == WC_role_FACADE);

    return has_rule(f->id, TORN) && cures_is_variables_alone(&x->edits) && had && gets &&
           !is_demanded(&p->source->stack) && wc_version_known(wc_own_range(had).low) &&
           wc_version_known(wc_own_range(gets).high) &&
           wc_version_compare(wc_own_range(gets).high, wc_own_range(had).low) < 0;
}

/* What cuDNN asked for by a name without a number: it takes whatever CUDA is found first. */
static const struct wc_object *found_first(const struct wc_stack *s) {
    return WC_FIRST(o, s->objects,
                    o->r.mapped && o->r.role == WC_role_CUDA_DEPENDENCY && o->r.asked_name &&
                        wc_str_ends(o->r.asked_name, ".so") &&
                        wc_is_cudnn(wc_object_of(s, o->r.asked_by_object, o->r.asked_by)));
}

static bool is_answered(const struct planning *p, const struct outcome *o, const char *name) {
    for (size_t i = 0; i < p->replay.n; i++)
        if (strcmp(p->replay.requests[i].name, name) == 0 && o->got[i].files)
            return true;
    return false;
}

bool cures_keeps_cuda(const struct planning *p, const struct played *x,
                      const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->source->stack, *then = &x->outcome.source->stack;
    const struct wc_object *facade = f->object == WC_NULL ? NULL : wc_stack_object(s, f->object);
    const char *file = facade ? wc_real_path_of(facade) : NULL;
    const int32_t cuda = facade ? wc_cuda_of_set(s, facade).major : -1;
    const struct wc_object *before = found_first(s);

    if (!has_rule(f->id, OTHER_LIBRARY) || !file)
        return false;
    if (cures_is_by_hand(&x->edits))
        return x->edits.edit[0].target && strtol(x->edits.edit[0].target, NULL, 10) == cuda;
    if (!cures_is_variables_alone(&x->edits) ||
        !WC_ANY(o, then->objects, wc_str_same(wc_real_path_of(o), file)))
        return false;
    return cuda <= 0 || !before || wc_cuda_of(before) == cuda ||
           !is_answered(p, &x->outcome, before->r.asked_name) ||
           WC_ANY(o, then->objects, wc_cuda_of(o) > 0 && wc_cuda_of(o) != cuda);
}

bool cures_removes_wanted(const struct planning *p, const struct played *x) {
    const struct edit *e = &x->edits.edit[0];
    const char *name = e->kind == EDIT_DELETE ? wc_base_name(e->path) : NULL;
    const struct wc_stack *s = &p->source->stack;

    if (!name || x->edits.n > 1)
        return false;
    return (WC_ANY(f, s->failures, f->r.name && strcmp(wc_base_name(f->r.name), name) == 0) ||
            WC_ANY(o, s->objects, wc_has_path(o, e->path))) &&
           !WC_ANY(o, x->outcome.source->stack.objects, o->r.mapped && wc_answers_to(o, name));
}
