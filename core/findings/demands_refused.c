/* SPDX-License-Identifier: Apache-2.0 */
/*
 * major-differs, runtime-too-old, runtime-too-new: a host refuses the cuDNN that it got, by its
 * framework's rule, its package's requirement, its functions or its symbol version
 * (core/findings/shared/judge.c decides, core/findings/shared/rules.def has the rules).
 */
#include "finding.h"

static void got(struct wc_case *c, const struct wc_judgement *j) {
    const struct wc_object *decider = j->runtime.decided_by;
    const char *part = wc_answering_part(wc_major_of(j->library));

    wc_case_library(c, "got", j->library);
    if (!decider)
        wc_case_runtime(c, &j->runtime);
    else if (decider != j->library)
        wc_case_fact(c, "runtime version", wc_format_range(c, j->runtime.range),
                     wc_format(c, "%s of %s", j->runtime.range.source, wc_path_of(decider)));
    if (c->r.predicted && part)
        wc_case_fact(
            c, "predicted",
            wc_format(c,
                      "cudnnGetVersion will say what the %s part is, which is not loaded yet; "
                      "this is the facade's own version",
                      part),
            NULL);
    wc_case_fact(c, "host", wc_path_of(j->host), "link map");
    /* It never searched: another one had loaded a library of that name. */
    wc_case_own_search(c, wc_own_search_of(c->d->s, j->host, j->library));
    wc_case_demands(c, j);
    WC_EACH(o, c->d->judged)
        if (o->reported_elsewhere && o->library == j->library && o->fit == j->fit &&
            wc_str_same(o->strongest->r.source, j->strongest->r.source))
            wc_case_fact(c, "also wanted by", wc_path_of(o->host), o->strongest->r.source);
}

/* What suits the refused host, and the others that use the same library, where there is such a
 * release. */
static const char *to_install(struct wc_case *c, const struct wc_judgement *j) {
    const char *own = wc_format_acceptable(c, &j->strongest->r);
    struct wc_version low, high, floor;
    struct wc_hosts users = {.n = 0};
    struct wc_spec spec;

    if (!wc_spec_read(own, &spec))
        return own;
    WC_EACH(use, c->d->uses)
        if (use->library == j->library && users.n < sizeof users.p / sizeof *users.p)
            users.p[users.n++] = use->host;
    floor = wc_spec_floor(&spec);
    floor.build = -1;
    if (users.n < 2 || !wc_version_known(floor) || wc_all_accept(c->d->s, &users, floor) ||
        !wc_common_releases(c->d->s, &users, &low, &high))
        return own;
    own = wc_format_common(c, low, high);
    wc_case_fact(c, "suits all hosts of it", own, "their demands together");
    return own;
}

static void emit(struct wc_diagnosis *d, const struct wc_judgement *j) {
    const struct wc_demand_record *r = &j->strongest->r;
    bool path_first = wc_next_fits(d->s, j->library, r);
    struct wc_case *c = wc_case_begin(d);

    c->r.title = wc_format(c, "%s got cuDNN %s, %s", wc_format_name(c, wc_path_of(j->host)),
                           wc_format_range(c, j->runtime.range), wc_format_demand(c, r));
    c->r.host = j->host->r.object;
    c->r.object = j->library->r.object;
    c->r.predicted = j->runtime.predicted && j->fit != WC_OTHER_MAJOR;
    if (j->own_would_fit)
        c->r.explained_by =
            wc_found_before(d, c->r.object, "facade-and-parts-differ", "parts-differ", NULL);
    if (!c->r.explained_by)
        c->r.explained_by = wc_found_before(d, c->r.object, "wrong-name", NULL);
    got(c, j);
    if (wc_own_search_of(d->s, j->host, j->library))
        wc_fix_load_order(c, wc_path_of(j->host), j->library);
    if (path_first)
        wc_fix_search_path(c, j->library);
    wc_fix_install(c, j->host, j->library, to_install(c, j), r->package);
    if (!path_first)
        wc_fix_search_path(c, j->library);
    wc_case_advice(c, WC_ACTION_UPGRADE_HOST, "or take a release of %s that is made for cuDNN %s",
                   wc_format_name(c, r->framework ? r->framework : wc_path_of(j->host)),
                   wc_format_range(c, j->runtime.range));
    wc_case_end(c);
}

static void emit_all(struct wc_diagnosis *d, enum wc_fit fit) {
    WC_EACH(j, d->judged) {
        /* missing-symbols says it better, function by function */
        bool by_functions = j->by_symbols_alone && j->strongest->r.newest_functions.n > 0;
        if (j->fit == fit && !j->reported_elsewhere && !by_functions)
            emit(d, j);
    }
}

void wc_find_major_differs(struct wc_diagnosis *d) {
    emit_all(d, WC_OTHER_MAJOR);
}

void wc_find_runtime_too_old(struct wc_diagnosis *d) {
    emit_all(d, WC_TOO_OLD);
}

void wc_find_runtime_too_new(struct wc_diagnosis *d) {
    emit_all(d, WC_TOO_NEW);
}
