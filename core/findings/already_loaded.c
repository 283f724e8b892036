/*
 * already-loaded-by-soname: what a host asked for was never searched for, since a library of that
 * name was there. Its own search would have found another file.
 */
#include "finding.h"

static const struct wc_object *facade_of(const struct wc_stack *s, const struct wc_searched *f) {
    const struct wc_object *o = wc_stack_object(s, f->r.object);

    return o && o->r.role == WC_role_FACADE && f->r.rule == WC_search_rule_LOADED && f->r.takes
               ? o
               : NULL;
}

/* Whoever was built with its own copy can work with this one: the same release, or a newer one of
 * the same major, as NVIDIA promises. */
static bool stands_for(const struct wc_range *runtime, const struct wc_candidate *own) {
    return own && wc_version_known(own->version) && runtime->exact &&
           (wc_version_compare(runtime->low, own->version) == 0 ||
            wc_rule_check(WC_RULE_NVIDIA, own->version, runtime->low) == WC_FITS);
}

/* What the host's package says of the versions that it takes. FITS: all of it agrees. */
static enum wc_fit host_says(const struct wc_stack *s, const struct wc_object *host,
                             const struct wc_object *o, const struct wc_range *runtime) {
    struct wc_range own = wc_own_range(o);
    enum wc_fit says = WC_FIT_UNKNOWN;

    for (size_t i = 0; host && i < s->demands.n; i++) {
        const struct wc_demand_record *r = &s->demands.p[i].r;
        enum wc_fit fit;
        if (!wc_means(host, r->host, r->host_path) ||
            (r->demand_kind != WC_demand_kind_BUILT && r->demand_kind != WC_demand_kind_REQUIRED))
            continue;
        fit = wc_demand_fit(r, runtime, &own);
        if (fit != WC_FITS && fit != WC_FIT_UNKNOWN)
            return fit;
        says = fit == WC_FITS ? fit : says;
    }
    return says;
}

/* It works by more than luck. */
static bool serves(const struct wc_stack *s, const struct wc_object *host,
                   const struct wc_object *o, const struct wc_candidate *own) {
    struct wc_range runtime = wc_runtime_of(s, o).range;
    enum wc_fit says = host_says(s, host, o, &runtime);

    return says == WC_FITS || (says == WC_FIT_UNKNOWN && stands_for(&runtime, own));
}

static void emit(struct wc_diagnosis *d, const struct wc_searched *f, const struct wc_object *o) {
    const struct wc_candidate *own = wc_candidate_of(d->s, f, f->r.takes);
    const struct wc_object *host = wc_object_of(d->s, f->r.caller_object, f->r.caller);
    const char *name, *version;
    struct wc_case c;

    wc_case_begin(&c, d);
    if (serves(d->s, host, o, own))
        c.r.severity = WC_severity_NOTE;
    name = wc_format_name(&c, f->r.caller);
    version = wc_format_own(&c, o);
    c.r.title = wc_format(&c, name, " got the ", wc_format_name(&c, f->r.name), " that was there, ",
                          version, "; its own search finds ",
                          own && own->r.version ? own->r.version : "another file", NULL);
    c.r.object = o->r.object;
    c.r.host = host ? host->r.object : WC_NULL;
    wc_case_library(&c, "got", o);
    wc_case_fact(&c, "host", f->r.caller, "link map");
    wc_case_fact(&c, "its own search finds",
                 own ? wc_format_candidate(&c, own) : wc_format(&c, f->r.takes, NULL),
                 "the loader's rules");
    wc_fix_load_order(&c, f->r.caller, o);
    wc_case_end(&c);
}

void wc_find_already_loaded_by_soname(struct wc_diagnosis *d) {
    for (size_t i = 0; i < d->s->searches.n && d->out->n < WC_FINDINGS_MOST; i++) {
        const struct wc_object *o = facade_of(d->s, &d->s->searches.p[i]);
        if (o)
            emit(d, &d->s->searches.p[i], o);
    }
}
