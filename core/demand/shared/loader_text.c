/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader reported about a failed request. glibc's text is "NAME: WHAT", where NAME is the
 * library that stopped it, not always the requested one.
 */
#include "core/demand/finding.h"

bool wc_is_torn_cudnn(const struct wc_failure *f) {
    return f->said.what == WC_SAID_UNMET && f->said.symbol && f->said.version &&
           wc_name_is_cudnn(f->said.file) && wc_name_is_cudnn(f->said.version);
}

bool wc_is_load(const struct wc_failure *f) {
    return f->r.operation != WC_operation_DLSYM && f->r.operation != WC_operation_DLVSYM;
}

void wc_case_request(struct wc_case *c, const struct wc_failure *f) {
    if (f->r.operation == WC_operation_NEEDED && !f->needs)
        wc_case_fact(c, WC_FACT_NEEDS, f->r.name, "DT_NEEDED; not found by the loader's rules");
    else if (c->d->s->replayed && !f->needs)
        wc_case_fact(c, WC_FACT_OPENS, f->r.name,
                     "its own constants; not found by the loader's rules");
    else
        wc_case_fact(c, WC_FACT_ASKED_FOR, f->r.name,
                     f->r.text ? "loader request" : "loader request; no object answers to it");
    wc_case_fact(c, WC_FACT_LOADER_SAID, f->r.text, "dlerror");
}

void wc_case_asked_by(struct wc_case *c, const struct wc_failure *f) {
    wc_case_fact(c, WC_FACT_ASKED_BY, f->r.caller, "loader request");
}

const char *wc_format_caller(struct wc_case *c, const struct wc_failure *f) {
    const struct wc_object *o = wc_caller_of(c->d->s, f);

    if (!o && !f->r.caller)
        return "the program";
    return o ? wc_format_who(c, o) : wc_format_asker(c, f->r.caller);
}

bool wc_is_asked_for(const struct wc_failure *f, const char *name) {
    return f->r.name && wc_str_same(name, wc_base_name(f->r.name));
}

const char *wc_format_wanted(struct wc_case *c, const struct wc_failure *f, const char *library) {
    bool itself = wc_is_asked_for(f, wc_base_name(library));

    return wc_format(c, "%s %s %s", itself ? wc_format_caller(c, f) : wc_format_name(c, f->r.name),
                     itself && f->r.operation != WC_operation_NEEDED ? "asked for" : "needs",
                     wc_format_name(c, library));
}
