/* SPDX-License-Identifier: Apache-2.0 */
/* expectation-not-met: WHICHCUDNN_EXPECT says what should be in use, and something else is. */
#include "finding.h"

void wc_find_expectation_not_met(struct wc_diagnosis *d) {
    struct wc_spec spec;

    WC_EACH(demand, d->s->demands) {
        const struct wc_demand_record *r = &demand->r;
        const bool understood = r->built || (wc_spec_read(r->spec, &spec) && spec.n);
        if (r->demand_kind != WC_demand_kind_EXPECTATION || (!r->spec && !r->built))
            continue;
        if (!understood) {
            struct wc_case *c = wc_case_begin(d);
            c->effect = WC_EFFECT_DOUBTED;
            c->on_disk = true;
            c->r.title =
                wc_format(c, "WHICHCUDNN_EXPECT is not a version, not compared: %s", r->spec);
            wc_case_fact_from(c, WC_FACT_EXPECTED, r->spec, r->source);
            wc_case_fact(
                c, WC_FACT_MIND,
                "write it as 9.1 (every 9.1.x), '>=9.8,<10' or 90800, as cudnnGetVersion says");
            wc_case_end(c);
        }
        WC_EACH(o, d->s->objects) {
            if (!understood || o->r.role != WC_role_FACADE)
                continue;
            const struct wc_runtime runtime = wc_runtime_of(d->s, o);
            if (!wc_refuses(wc_demand_fit(r, runtime.range, runtime.range)))
                continue;
            struct wc_case *c = wc_case_begin(d);
            const char *expected = r->spec ?: wc_format(c, "%s or what goes with it", r->built);
            c->r.title =
                wc_format(c, "%s is cuDNN %s, expected was %s", wc_format_name(c, wc_name_of(o)),
                          wc_format_range(c, runtime.range), expected);
            c->r.object = o->r.object;
            c->r.predicted = runtime.predicted;
            c->r.explained_by =
                wc_found_before(d, o->r.object, "facade-and-parts-differ", "parts-differ", NULL);
            wc_case_library(c, WC_FACT_GOT, o);
            wc_case_runtime(c, &runtime);
            wc_case_fact_from(c, WC_FACT_EXPECTED, expected, r->source ?: "WHICHCUDNN_EXPECT");
            if (r->built)
                wc_case_fact_from(c, WC_FACT_CHECK, wc_rule_explanation(wc_rule_for(r)),
                                  wc_format(c, "rule %s", wc_rule_name(wc_rule_for(r))));
            wc_case_end(c);
        }
    }
}
