/* SPDX-License-Identifier: Apache-2.0 */
#include "cures.h"

#include <string.h>

#include "core/findings/finding.h"
#include "tools/repair/rules.h"

static bool is_of(const struct wc_object *o, const struct wc_name *name) {
    const struct wc_name own = wc_name_read(wc_base_name(wc_path_of(o) ?: ""));

    return o->r.mapped && own.kind == name->kind && wc_str_same(own.part, name->part);
}

/* Not by another name either. */
static bool is_in_vain(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_name asked = wc_name_read(f->r.name ? wc_base_name(f->r.name) : "");

    return wc_is_load(f) && wc_kind_is_ours(asked.kind) && !WC_ANY(o, s->objects, is_of(o, &asked));
}

/* It, or the command that it was of, did not end well, or, where nobody says how it ended, a call
 * failed or something was asked for in vain. */
static bool has_failed(const struct planning *p) {
    const struct wc_stack *s = &p->source->stack;

    if (s->has_outcome || s->command_ended)
        return wc_ended_badly(s);
    return wc_a_call_failed(s) || WC_ANY(f, s->failures, is_in_vain(s, f));
}

/* Of two copies the one that a process lives with is the one that it wants; of one that failed it
 * may be the other. */
static bool takes_other(const struct planning *p, const struct played *x,
                        const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->source->stack;
    const struct wc_object *had = f->object == WC_NULL ? NULL : wc_stack_object(s, f->object);
    const struct wc_candidate *other = had ? wc_candidate_of(s, wc_search_of(s, had), NULL) : NULL;

    return has_failed(p) && other && other->r.path &&
           WC_ANY(o, x->outcome.source->stack.objects,
                  o->r.role == WC_role_FACADE && wc_str_same(wc_path_of(o), other->r.path));
}

bool cures_takes_own(const struct played *x, const struct wc_finding_record *f) {
    const struct wc_fact *has =
        WC_FIRST(one, f->facts, wc_str_same(one->name, "its environment has"));
    const char *end = has && has->value ? strstr(has->value, "  ") : NULL;
    const size_t n = end ? (size_t)(end - has->value) : 0;

    return n &&
           WC_ANY(o, x->outcome.source->stack.objects,
                  o->r.role == WC_role_FACADE && (wc_lies_in(wc_path_of(o), has->value, n) ||
                                                  wc_lies_in(wc_real_path_of(o), has->value, n)));
}

/* Whoever names a file there means that file, wherever a search leads. */
static bool is_preloaded(const struct wc_stack *s, int64_t object) {
    return object != WC_NULL &&
           WC_ANY(search, s->searches,
                  search->r.object == object && search->r.rule == WC_search_rule_PRELOAD);
}

bool cures_suits_note(const struct planning *p, const struct played *x,
                      const struct wc_finding_record *f) {
    const enum edit_kind first = x->edits.edit[0].kind;

    if (has_rule(f->id, OTHER_COPY))
        return takes_other(p, x, f);
    if (cures_loses_others(p, &x->edits) ||
        (first == EDIT_SET && is_preloaded(&p->source->stack, f->object)))
        return false;
    if (has_rule(f->id, OWN_COPY)) /* as it is */
        return x->edits.n == 1 && (first == EDIT_SET || first == EDIT_UNSET) &&
               !cures_changes_nothing(p, x);
    if (!has_failed(p))
        return cures_changes_nothing(p, x) && !cures_adds_to_variable(p, &x->edits);
    return !cures_changes_nothing(p, x);
}

bool cures_keeps_failed(const struct planning *p, const struct played *x,
                        const struct wc_finding_record *f) {
    const struct wc_object *had =
        WC_FIRST(o, p->base.source->stack.objects, o->r.role == WC_role_FACADE);
    const struct wc_object *gets =
        WC_FIRST(o, x->outcome.source->stack.objects, o->r.role == WC_role_FACADE);

    return has_rule(f->id, OTHER_OF_TWO) && x->edits.n > 1 &&
           x->edits.edit[0].kind == EDIT_REMOVE && has_failed(p) && had && gets &&
           wc_version_known(wc_own_range(had).low) &&
           wc_version_compare(wc_own_range(had).low, wc_own_range(gets).low) == 0;
}
