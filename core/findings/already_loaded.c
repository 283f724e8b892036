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

/* One release in two places: whoever comes first, the same is run. */
static bool is_same_release(const struct wc_object *o, const struct wc_beside *own) {
    struct wc_range range = wc_own_range(o);

    return own && wc_version_known(own->version) && range.exact &&
           wc_version_compare(range.low, own->version) == 0;
}

static void tell(struct wc_diagnosis *d, const struct wc_searched *f, const struct wc_object *o) {
    const struct wc_beside *own = wc_candidate_of(d->s, f, f->r.takes);
    const struct wc_object *host = wc_object_of(d->s, f->r.caller_object, f->r.caller);
    const char *name, *version;
    struct wc_case c;

    wc_case_begin(&c, d);
    if (is_same_release(o, own))
        c.r.severity = WC_severity_NOTE;
    name = wc_say_name(&c, f->r.caller);
    version = wc_say_own(&c, o);
    c.r.title = wc_say(&c, name, " got the ", wc_say_name(&c, f->r.name), " that was there, ",
                       version, "; its own search finds ",
                       own && own->r.version ? own->r.version : "another file", NULL);
    c.r.object = o->r.object;
    c.r.host = host ? host->r.object : WC_NULL;
    wc_case_library(&c, "got", o);
    wc_case_fact(&c, "host", f->r.caller, "link map");
    wc_case_fact(&c, "its own search finds",
                 own ? wc_say_candidate(&c, own) : wc_say(&c, f->r.takes, NULL),
                 "the loader's rules");
    wc_fix_load_order(&c, f->r.caller, o);
    wc_case_end(&c);
}

void wc_find_already_loaded_by_soname(struct wc_diagnosis *d) {
    for (size_t i = 0; i < d->s->searches.n && d->out->n < WC_FINDINGS_MOST; i++) {
        const struct wc_object *o = facade_of(d->s, &d->s->searches.p[i]);
        if (o)
            tell(d, &d->s->searches.p[i], o);
    }
}
