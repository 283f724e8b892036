/* SPDX-License-Identifier: Apache-2.0 */
/* not-observed: what the shim could not see, so that silence is not taken for health. */
#include "core/demand/finding.h"

void wc_find_not_observed(struct wc_diagnosis *d) {
    const struct wc_stack *s = d->s;

    if (!s->unobserved.n)
        return;
    struct wc_case *c = wc_case_begin(d, NULL, NULL);
    c->on_disk = true;
    c->r.title = s->unobserved.n == 1
                     ? wc_format(c, "not observed: %s", s->unobserved.p[0].r.what ?: "?")
                     : wc_format(c, "%zu things were not observed", s->unobserved.n);
    WC_EACH(u, s->unobserved) {
        const struct wc_unobserved_record *r = &u->r;
        const char *what = s->unobserved.n == 1 ? "reason" : r->what; /* as the title has it */
        wc_case_named(c, what ?: "not observed", r->why ?: "reason unknown", r->path);
    }
    wc_case_end(c);
}
