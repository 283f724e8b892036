/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shadowed-copy: one copy is before another of another release. LD_LIBRARY_PATH puts it there,
 * or the host's own search path, which has a package's copy behind: then to upgrade that package
 * changes nothing. Or the program failed, and the loader cache has an older one that was put there
 * unmanaged, or the host's RPATH one that LD_LIBRARY_PATH should have replaced. Where a host
 * refuses what it got, that finding says so itself.
 */
#include "core/demand/finding.h"

static bool has_failed(const struct wc_stack *s) {
    return wc_ended_badly(s) || wc_a_call_failed(s);
}

/* A program that was built with the newer one may give up, for a number that only it knows. */
static bool may_be_why(const struct wc_diagnosis *d, const struct wc_object *o,
                       const struct wc_candidate *b) {
    struct wc_range got = wc_runtime_of(d->s, o).range;

    return wc_version_known(got.high) && wc_version_compare(got.high, b->version) < 0 &&
           (has_failed(d->s) || wc_turned_away(d->s, true)) && !wc_has_error(d);
}

/* Otherwise later copies in the system's directories do not matter. But where both are in
 * one search path of one object, and the second is of a package, a user may upgrade that, and
 * wonder. */
static const struct wc_candidate *shadowed(const struct wc_diagnosis *d, const struct wc_object *o,
                                           const struct wc_searched *f) {
    const struct wc_candidate *b = wc_candidate_of(d->s, f, NULL);

    if (!b || !wc_version_known(b->version))
        return NULL;
    bool package = wc_is_of_environment(b->r.installation_kind);
    bool one_path = f->r.of && wc_str_same(f->r.of, b->r.of);
    /* The system has a package for it, and an older file that is in no package comes first: no user
     * needs to hear of it while all is well. */
    bool left = f->r.rule == WC_search_rule_CACHE && !o->r.installation && b->r.installation &&
                wc_is_of_system(b->r.installation_kind);
    bool meant = one_path || left || (b->r.rule == WC_search_rule_LIBRARY_PATH && has_failed(d->s));
    if (f->r.rule != WC_search_rule_LIBRARY_PATH && !(one_path && package) &&
        !(meant && may_be_why(d, o, b)))
        return NULL;
    return wc_ranges_meet(wc_runtime_of(d->s, o).range, wc_exactly(b->version)) ? NULL : b;
}

static void emit(struct wc_diagnosis *d, const struct wc_object *o, const struct wc_searched *f,
                 const struct wc_candidate *b) {
    bool by_cache = f->r.rule == WC_search_rule_CACHE;
    bool of_host = !by_cache && f->r.rule != WC_search_rule_LIBRARY_PATH;
    const char *rule = wc_enum_word(WC_ENUM_search_rule, f->r.rule);
    struct wc_case *c = wc_case_begin(d);
    const char *version = wc_format_range(c, wc_runtime_of(d->s, o).range);

    if (!has_failed(d->s) || !(by_cache || of_host) || !may_be_why(d, o, b))
        c->effect = WC_EFFECT_DOUBTED;
    if (by_cache) {
        c->r.title = wc_format(c, "%s %s in %s, of no package, shadows %s of %s", wc_name_of(o),
                               version, wc_format_directory(c, wc_path_of(o)), b->r.version,
                               wc_format_name(c, b->r.installation));
    } else if (of_host) {
        c->r.title =
            wc_format(c, "%s %s of %s of %s shadows %s in %s", wc_name_of(o), version, rule,
                      wc_format_name(c, f->r.of), b->r.version, wc_format_directory(c, b->r.path));
    } else {
        c->r.title = wc_format(c, "%s %s of %s shadows %s in %s", wc_name_of(o), version, rule,
                               b->r.version, wc_format_directory(c, b->r.path));
    }
    c->r.object = o->r.object;
    wc_case_library(c, WC_FACT_GOT, o);
    if (of_host && b->r.installation)
        wc_case_fact(c, WC_FACT_MIND,
                     wc_format(c, "an upgrade of %s changes nothing for this process",
                               wc_format_name(c, b->r.installation)));
    wc_case_end(c);
}

void wc_find_shadowed_copy(struct wc_diagnosis *d) {
    WC_EACH(o, d->s->objects) {
        const struct wc_searched *f = wc_search_of(d->s, o);
        const struct wc_candidate *b = o->r.role == WC_role_FACADE ? shadowed(d, o, f) : NULL;
        if (b && !wc_found_before(d, o->r.object, "major-differs", "runtime-too-old",
                                  "runtime-too-new", "missing-symbols", NULL))
            emit(d, o, f, b);
    }
}
