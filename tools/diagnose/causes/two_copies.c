/* SPDX-License-Identifier: Apache-2.0 */
/* two-copies-loaded: more than one facade in the process, and which host uses which; or a host that
 * found its facade, and gets functions of another library, which was loaded before. */
#include "core/demand/finding.h"

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

static void find_answered_by(struct wc_diagnosis *d, const struct wc_use *use) {
    WC_EACH(b, d->s->bindings) {
        const struct wc_object *by;
        struct wc_case *c;

        if (b->r.how != WC_binding_how_SLOT || b->r.functions.n == 0 ||
            !wc_is_binding_of(b, use->host))
            continue;
        by = wc_object_of(d->s, b->r.target, b->r.target_path);
        if (!by || by == use->host || by->r.role != WC_role_HOST || !wc_is_linked(d->s, use->host))
            continue;
        c = wc_case_begin(d);
        c->effect = wc_ended_badly(d->s) ? WC_EFFECT_FELT : WC_EFFECT_DOUBTED;
        c->r.title = wc_format(c, "%s gets %s of %s, not of %s", wc_format_who(c, use->host),
                               b->r.functions.p[0], wc_format_who(c, by),
                               wc_format_name(c, wc_name_of(use->library)));
        c->r.host = use->host->r.object;
        c->r.object = by->r.object;
        wc_case_fact(c, WC_FACT_ANSWERS, wc_path_of(by));
        wc_case_library(c, WC_FACT_PASSED_OVER, use->library);
        wc_case_end(c);
    }
}

static void find_facades(struct wc_diagnosis *d) {
    struct facades f = {.n = 0};
    struct wc_case *c;
    const char *versions;

    WC_EACH(o, d->s->objects)
        if (o->r.role == WC_role_FACADE && o->r.mapped)
            add(&f, o);
    if (f.n < 2)
        return;
    c = wc_case_begin(d);
    versions = wc_format_own(c, f.p[0]);
    c->effect = f.differ ? WC_EFFECT_FELT : wc_effect_of_copies(d);
    for (size_t i = 1; i < f.n; i++)
        versions = wc_format(c, "%s%s%s", versions, i + 1 < f.n ? ", " : " and ",
                             wc_format_own(c, f.p[i]));
    c->r.title = wc_format(c, "%zu cuDNN facades in one process: %s", f.n, versions);
    WC_EACH(facade, f) {
        wc_case_library(c, WC_FACT_FACADE, *facade);
        WC_EACH(use, d->uses)
            if (use->library == *facade)
                wc_case_fact(c, WC_FACT_USED_BY, wc_path_of(use->host));
    }
    wc_case_crash(c);
    wc_case_fact(c, WC_FACT_MIND,
                 "a request for a part by its bare name may get the part of the other copy");
    wc_case_end(c);
}

void wc_find_two_copies_loaded(struct wc_diagnosis *d) {
    find_facades(d);
    WC_EACH(use, d->uses)
        find_answered_by(d, use);
}
