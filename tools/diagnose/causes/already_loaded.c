/* SPDX-License-Identifier: Apache-2.0 */
/*
 * already-loaded-by-soname: what a host asked for was never searched for, since a library of that
 * name was there. Its own search would have found another file.
 */
#include "core/demand/finding.h"

/* It works by more than luck: by the versions that the host's package accepts, else
 * by what its own copy is: the same release, or an older one of the same major, as NVIDIA promises.
 */
static bool serves(const struct wc_stack *s, const struct wc_object *host,
                   const struct wc_object *o, const struct wc_candidate *own) {
    struct wc_range runtime = wc_runtime_of(s, o).range;
    enum wc_fit fit = wc_fit_of_release(s, host, o);

    if (fit != WC_FIT_UNKNOWN)
        return fit == WC_FITS;
    return own && wc_version_known(own->version) && runtime.exact &&
           (wc_version_compare(runtime.low, own->version) == 0 ||
            wc_rule_check(WC_RULE_NVIDIA, own->version, runtime.low) == WC_FITS);
}

void wc_find_already_loaded_by_soname(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->searches) {
        const struct wc_object *o = wc_stack_object(d->s, f->r.object);
        const struct wc_object *host = wc_object_of(d->s, f->r.caller_object, f->r.caller);
        const struct wc_candidate *own = wc_candidate_of(d->s, f, f->r.takes);
        if (!o || o->r.role != WC_role_FACADE || f->r.rule != WC_search_rule_LOADED || !f->r.takes)
            continue;
        struct wc_case *c = wc_case_begin(d);
        /* It has an effect where the process asked for the version, and failed before it used
         * cuDNN, for nothing else that is known. */
        if (serves(d->s, host, o, own))
            c->effect = WC_EFFECT_NONE;
        else if (wc_has_error(d) || !wc_failed_itself(d->s) || !wc_turned_away(d->s, true))
            c->effect = WC_EFFECT_DOUBTED;
        c->r.title =
            wc_format(c, "%s got the %s that was already loaded, %s; its own search finds %s",
                      host ? wc_format_who(c, host) : wc_format_name(c, f->r.caller),
                      wc_format_name(c, f->r.name), wc_format_own(c, o),
                      own && own->r.version ? own->r.version : "another file");
        c->r.object = o->r.object;
        c->r.host = host ? host->r.object : WC_NULL;
        wc_case_library(c, WC_FACT_GOT, o);
        wc_case_fact(c, WC_FACT_HOST, f->r.caller);
        wc_case_own_search(c, f);
        wc_case_end(c);
    }
}
