/* SPDX-License-Identifier: Apache-2.0 */
/* two-copies-loaded: more than one facade in the process, and who uses which. */
#include "finding.h"

enum { FACADES_MOST = 8 };

struct facades {
    const struct wc_object *p[FACADES_MOST];
    size_t n;
    bool differ;
};

static void add(struct facades *f, const struct wc_object *o) {
    for (size_t i = 0; i < f->n; i++) {
        if (wc_same_file(f->p[i], o))
            return;
        f->differ = f->differ || !wc_ranges_meet(wc_own_range(o), wc_own_range(f->p[i]));
    }
    if (f->n < FACADES_MOST)
        f->p[f->n++] = o;
}

void wc_find_two_copies_loaded(struct wc_diagnosis *d) {
    struct facades f = {.n = 0};

    WC_EACH(o, d->s->objects)
        if (o->r.role == WC_role_FACADE && o->r.mapped)
            add(&f, o);
    if (f.n < 2)
        return;
    struct wc_case *c = wc_case_begin(d);
    const char *versions = wc_format_own(c, f.p[0]);
    c->r.severity = f.differ ? WC_severity_WARNING : wc_severity_of_copies(d);
    for (size_t i = 1; i < f.n; i++)
        versions = wc_format(c, "%s%s%s", versions, i + 1 < f.n ? ", " : " and ",
                             wc_format_own(c, f.p[i]));
    c->r.title = wc_format(c, "%zu cuDNN facades in one process: %s", f.n, versions);
    WC_EACH(facade, f) {
        wc_case_library(c, "facade", *facade);
        WC_EACH(use, d->uses)
            if (use->library == *facade)
                wc_case_fact(c, "used by", wc_path_of(use->host), "bindings");
    }
    wc_case_crash(c);
    wc_case_fact(c, "mind", "what asks for parts by name alone may get those of the other copy",
                 NULL);
    wc_case_end(c);
}
