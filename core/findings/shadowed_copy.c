/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shadowed-copy: one copy stands before another of another release. LD_LIBRARY_PATH puts it there,
 * or the host's own search path, which has a package's copy behind: then to upgrade that package
 * changes nothing. Or whatever rule found an older one, and the program failed with it. Where a
 * host refuses what it got, that finding says so itself.
 */
#include "finding.h"

static bool has_failed(const struct wc_stack *s) {
    return wc_ended_badly(s) || wc_a_call_failed(s);
}

/* A program that was built with the newer one may give up, for a number that it alone knows. */
static bool may_be_why(const struct wc_diagnosis *d, const struct wc_object *o,
                       const struct wc_candidate *b) {
    struct wc_range got = wc_runtime_of(d->s, o).range;

    return wc_version_known(got.high) && wc_version_compare(got.high, b->version) < 0 &&
           (has_failed(d->s) || wc_turned_away(d->s, true)) && !wc_has_error(d);
}

/* What stands behind in the system's directories is nobody's business while all is well. But where
 * both are in one search path of one object, and the second is of a package, somebody may upgrade
 * that, and wonder. */
static const struct wc_candidate *shadowed(const struct wc_diagnosis *d, const struct wc_object *o,
                                           const struct wc_searched *f) {
    const struct wc_candidate *b = wc_candidate_of(d->s, f, NULL);
    bool package, one_path;

    if (!b || !wc_version_known(b->version))
        return NULL;
    package = b->r.installation && (b->r.installation_kind == WC_installation_kind_WHEEL ||
                                    b->r.installation_kind == WC_installation_kind_CONDA);
    one_path = f->r.of && wc_str_same(f->r.of, b->r.of) &&
               (f->r.rule == WC_search_rule_RPATH || f->r.rule == WC_search_rule_RUNPATH);
    if (f->r.rule != WC_search_rule_LIBRARY_PATH && !(one_path && package) &&
        !((one_path || has_failed(d->s)) && may_be_why(d, o, b)))
        return NULL;
    return wc_ranges_meet(wc_runtime_of(d->s, o).range, wc_exactly(b->version)) ? NULL : b;
}

static void emit(struct wc_diagnosis *d, const struct wc_object *o, const struct wc_searched *f,
                 const struct wc_candidate *b) {
    bool by_variable = f->r.rule == WC_search_rule_LIBRARY_PATH;
    bool of_host = !by_variable && f->r.of;
    const char *rule = wc_enum_word(WC_ENUM_search_rule, f->r.rule);
    struct wc_case *c = wc_case_begin(d);
    const char *version = wc_format_range(c, wc_runtime_of(d->s, o).range);

    if (!has_failed(d->s) || by_variable || !may_be_why(d, o, b))
        c->r.severity = WC_severity_NOTE;
    if (!by_variable && !of_host) {
        c->r.title =
            wc_format(c, "%s %s in %s, of %s, stands before %s in %s", wc_name_of(o), version,
                      wc_format_directory(c, wc_path_of(o)),
                      o->r.installation ? wc_format_name(c, o->r.installation) : "no package",
                      b->r.version, wc_format_directory(c, b->r.path));
    } else if (of_host) {
        c->r.title =
            wc_format(c, "%s %s of %s of %s stands before %s in %s", wc_name_of(o), version, rule,
                      wc_format_name(c, f->r.of), b->r.version, wc_format_directory(c, b->r.path));
    } else {
        c->r.title = wc_format(c, "%s %s of %s stands before %s in %s", wc_name_of(o), version,
                               rule, b->r.version, wc_format_directory(c, b->r.path));
    }
    c->r.object = o->r.object;
    wc_case_library(c, "got", o);
    if (of_host && b->r.installation)
        wc_case_fact(c, "mind",
                     wc_format(c, "to upgrade %s changes nothing for it",
                               wc_format_name(c, b->r.installation)),
                     NULL);
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
