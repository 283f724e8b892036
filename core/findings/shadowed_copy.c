/*
 * shadowed-copy: LD_LIBRARY_PATH puts a copy of another release before the one that would be found
 * without it. Where a host refuses what it got, that finding says so itself.
 */
#include "finding.h"

static const struct wc_beside *shadowed(const struct wc_stack *s, const struct wc_object *o,
                                        const struct wc_searched *f) {
    const struct wc_beside *b = f ? wc_candidate_of(s, f, NULL) : NULL;
    struct wc_range range = wc_own_range(o);

    if (!b || f->r.rule != WC_search_rule_LIBRARY_PATH || !wc_version_known(b->version) ||
        !range.exact || wc_version_compare(range.low, b->version) == 0)
        return NULL;
    return b;
}

static void tell(struct wc_diagnosis *d, const struct wc_object *o, const struct wc_beside *b) {
    struct wc_case c;

    wc_case_begin(&c, d);
    c.r.title =
        wc_say(&c, wc_name_of(o), " ", wc_say_own(&c, o), " of LD_LIBRARY_PATH stands before ",
               b->r.version, " in ", wc_say_directory(&c, b->r.path), NULL);
    c.r.object = o->r.object;
    wc_case_library(&c, "got", o);
    if (!wc_fix_search_path(&c, o))
        wc_case_fix(&c, WC_ACTION_SET_VARIABLE,
                    "take its directory out of LD_LIBRARY_PATH, if the other one is wanted", NULL);
    wc_case_end(&c);
}

void wc_find_shadowed_copy(struct wc_diagnosis *d) {
    for (size_t i = 0; i < d->s->objects.n && d->out->n < WC_FINDINGS_MOST; i++) {
        const struct wc_object *o = &d->s->objects.p[i];
        const struct wc_beside *b =
            o->r.role == WC_role_FACADE ? shadowed(d->s, o, wc_search_of(d->s, o)) : NULL;
        if (b && !wc_found_before(d, o->r.object, "major-differs", "runtime-too-old",
                                  "runtime-too-new", "missing-symbols", NULL))
            tell(d, o, b);
    }
}
