/* SPDX-License-Identifier: Apache-2.0 */
/* expectation-not-met: WHICHCUDNN_EXPECT says what should be in use, and something else is. */
#include "finding.h"

static void emit_not_understood(struct wc_diagnosis *d, const struct wc_demand_record *r) {
    struct wc_case *c = wc_case_begin(d);

    c->effect = WC_EFFECT_DOUBTED;
    c->on_disk = true;
    c->r.title = wc_format(c, "WHICHCUDNN_EXPECT is not a version, not compared: %s", r->spec);
    wc_case_fact_from(c, WC_FACT_EXPECTED, r->spec, r->source);
    wc_case_fact(c, WC_FACT_MIND,
                 "write it as 9.1 (every 9.1.x), '>=9.8,<10' or 90800, as cudnnGetVersion says");
    wc_case_end(c);
}

static const char *format_expected(struct wc_case *c, const struct wc_demand_record *r) {
    if (r->spec)
        return r->spec;
    return wc_format(c, "%s or what goes with it", r->built);
}

static void emit(struct wc_diagnosis *d, const struct wc_demand_record *r,
                 const struct wc_object *facade, const struct wc_runtime *runtime) {
    struct wc_case *c = wc_case_begin(d);

    c->r.title =
        wc_format(c, "%s is cuDNN %s, expected was %s", wc_format_name(c, wc_name_of(facade)),
                  wc_format_range(c, runtime->range), format_expected(c, r));
    c->r.object = facade->r.object;
    c->r.predicted = runtime->predicted;
    c->r.explained_by =
        wc_found_before(d, facade->r.object, "facade-and-parts-differ", "parts-differ", NULL);
    wc_case_library(c, WC_FACT_GOT, facade);
    wc_case_runtime(c, runtime);
    wc_case_fact_from(c, WC_FACT_EXPECTED, format_expected(c, r),
                      r->source ? r->source : "WHICHCUDNN_EXPECT");
    if (r->built)
        wc_case_fact_from(c, WC_FACT_CHECK, wc_rule_explanation(wc_rule_for(r)),
                          wc_format(c, "rule %s", wc_rule_name(wc_rule_for(r))));
    wc_case_end(c);
}

void wc_find_expectation_not_met(struct wc_diagnosis *d) {
    struct wc_spec spec;

    WC_EACH(demand, d->s->demands) {
        if (demand->r.demand_kind != WC_demand_kind_EXPECTATION)
            continue;
        if (!demand->r.built && !(wc_spec_read(demand->r.spec, &spec) && spec.n)) {
            if (demand->r.spec)
                emit_not_understood(d, &demand->r);
            continue;
        }
        WC_EACH(o, d->s->objects) {
            if (o->r.role != WC_role_FACADE)
                continue;
            struct wc_runtime runtime = wc_runtime_of(d->s, o);
            if (wc_refuses(wc_demand_fit(&demand->r, runtime.range, runtime.range)))
                emit(d, &demand->r, o, &runtime);
        }
    }
}
