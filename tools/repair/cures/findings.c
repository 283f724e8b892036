/* SPDX-License-Identifier: Apache-2.0 */
#include "cures.h"

#include <string.h>

#include "core/findings/finding.h"
#include "tools/repair/rules.h"

const char *cures_path_of(const struct wc_stack *s, int64_t object) {
    const struct wc_object *o = object == WC_NULL ? NULL : wc_stack_object(s, object);

    return o ? wc_path_of(o) : NULL;
}

/* However a path is spelt. */
static const char *file_of(const struct wc_stack *s, int64_t object) {
    const struct wc_object *o = object == WC_NULL ? NULL : wc_stack_object(s, object);

    return o ? wc_real_path_of(o) : NULL;
}

/* A function, and not all of a version: of the finding's own facts. */
static bool lacks_function(const struct wc_finding_record *f) {
    return has_rule(f->id, LACK) &&
           (WC_ANY(fact, f->facts, wc_str_same(fact->name, "wanted function")) ||
            !WC_ANY(fact, f->facts, wc_str_same(fact->name, "wanted symbol version")));
}

static bool is_same_id(const struct wc_finding_record *a, const struct wc_finding_record *b) {
    return wc_str_same(a->id, b->id) || (has_rule(a->id, MIXTURE) && has_rule(b->id, MIXTURE)) ||
           (lacks_function(a) && lacks_function(b));
}

/* About the same host, or, where none is known, the same library; what the hosts of both are told
 * apart by. */
static bool is_same(const struct wc_finding_record *a, const struct wc_stack *of_a,
                    const struct wc_finding_record *b, const struct wc_stack *of_b) {
    const char *x = file_of(of_a, a->host), *y = file_of(of_b, b->host);

    if (!is_same_id(a, b))
        return false;
    if (x && y)
        return strcmp(x, y) == 0;
    x = file_of(of_a, a->object);
    y = file_of(of_b, b->object);
    return !x || !y || wc_str_same(x, y);
}

/* What is found in an outcome: of itself, or were it to end as the process did. */
static const struct wc_findings *found_in(const struct outcome *o, bool of_end) {
    return of_end ? &o->of_end : &o->findings;
}

static const struct wc_finding_record *find_in(const struct outcome *o, bool of_end,
                                               const struct wc_finding_record *f,
                                               const struct wc_stack *of_f) {
    return WC_FIRST(known, *found_in(o, of_end), is_same(known, &o->source->stack, f, of_f));
}

static bool was_as_bad(const struct planning *p, const struct outcome *o, bool of_end,
                       const struct wc_finding_record *f) {
    const struct wc_finding_record *was = find_in(&p->base, of_end, f, &o->source->stack);

    return was && was->severity >= f->severity;
}

bool cures_brings(const struct planning *p, const struct played *x, const struct outcome *o,
                  bool of_end, enum wc_severity severity) {
    const bool order = x->edits.edit[0].kind == EDIT_IMPORT_FIRST;

    return WC_ANY(f, *found_in(o, of_end),
                  f->severity >= severity && !(order && has_rule(f->id, ANY_ORDER)) &&
                      !(has_rule(f->id, OTHER_COPY) && f->severity == WC_severity_NOTE) &&
                      !was_as_bad(p, o, of_end, f));
}

bool cures_brings_never(const struct planning *p, const struct outcome *o) {
    for (int of_end = 0; of_end < 2; of_end++)
        if (WC_ANY(f, *found_in(o, of_end),
                   has_rule(f->id, NEVER_NEW) && !find_in(&p->base, of_end, f, &o->source->stack)))
            return true;
    return false;
}

bool cures_is_gone(const struct planning *p, const struct outcome *o, bool of_end,
                   const struct wc_finding_record *f) {
    const struct wc_stack *of_f = &p->source->stack;
    const struct wc_finding_record *was = find_in(&p->base, of_end, f, of_f);
    const enum wc_severity least = was && was->severity < f->severity ? was->severity : f->severity;

    return !find_in(o, of_end, f, of_f) &&
           !WC_ANY(known, *found_in(o, of_end),
                   !has_rule(f->id, OTHER_COPY) && wc_str_same(known->id, f->id) &&
                       known->severity >= least && !known->explained_by && f->host == WC_NULL);
}

bool cures_is_shown(const struct planning *p, const struct wc_finding_record *f, bool *of_end) {
    const struct wc_stack *s = &p->source->stack;

    if (!p->base.source)
        return false;
    *of_end = !find_in(&p->base, false, f, s);
    return !*of_end || find_in(&p->base, true, f, s);
}

bool cures_leaves_cause(const struct planning *p, const struct outcome *o, bool of_end,
                        const struct wc_finding_record *f) {
    return WC_ANY(cause, *p->findings,
                  f->explained_by && wc_str_same(cause->id, f->explained_by) &&
                      find_in(o, of_end, cause, &p->source->stack));
}
