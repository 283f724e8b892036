/* SPDX-License-Identifier: Apache-2.0 */
/* Demands in words: for titles and facts. */
#include "core/findings/finding.h"

enum { NAMED_FUNCTIONS = 3 };

/* "==9.26.0.51" as cuDNN itself counts, "9.26.0"; other sets as they stand. */
static const char *format_spec(struct wc_case *c, const char *spec) {
    struct wc_version pin;

    if (!wc_spec_pins(spec, &pin))
        return spec;
    pin.build = -1;
    return wc_format_version(c, pin);
}

static const char *format_floor(struct wc_case *c, const struct wc_demand_record *r) {
    struct wc_spec spec;

    return wc_spec_read(r->spec, &spec) ? wc_format_version(c, wc_spec_floor(&spec)) : "?";
}

const char *wc_format_demand(struct wc_case *c, const struct wc_demand_record *r) {
    const char *spec = r->spec ? format_spec(c, r->spec) : "?";

    switch (r->demand_kind) {
    case WC_demand_kind_BUILT:
        return wc_format(c, "it was built with %s", r->built ? r->built : spec);
    case WC_demand_kind_REQUIRED:
        if (r->source && wc_str_starts(r->source, "METADATA"))
            return wc_format(c, "its wheel requires %s", spec);
        return wc_format(c, "its package requires %s", spec);
    case WC_demand_kind_SYMBOLS:
        return wc_format(c, "it imports functions of %s", format_floor(c, r));
    case WC_demand_kind_SYMBOL_VERSION:
        return wc_format(c, "its imports demand cuDNN %d", wc_major_wanted(r));
    case WC_demand_kind_NEEDED:
        return wc_format(c, "it was linked with cuDNN %d", wc_major_wanted(r));
    default:
        return r->spec ? r->spec : r->built;
    }
}

/* What the source says, in full. */
const char *wc_format_demand_whole(struct wc_case *c, const struct wc_demand_record *r) {
    const char *newest;

    switch (r->demand_kind) {
    case WC_demand_kind_BUILT:
        return wc_format(c, "built with %s", r->built ? r->built : r->spec);
    case WC_demand_kind_REQUIRED:
        return wc_format(c, "requires %s%s", r->package ? wc_format_name(c, r->package) : "",
                         r->spec ? r->spec : r->built);
    case WC_demand_kind_SYMBOLS:
        newest = wc_format_list(c, r->newest_functions.p,
                                r->newest_functions.n < NAMED_FUNCTIONS ? r->newest_functions.n
                                                                        : NAMED_FUNCTIONS);
        return wc_format(c, "imports functions that came with %s%s%s", format_floor(c, r),
                         newest ? ": " : "", newest);
    default:
        return wc_format_demand(c, r);
    }
}

/* A range in metadata is no rule's business; what was built with, or pinned, is. */
static const char *format_rule(struct wc_case *c, const struct wc_demand_record *r,
                               enum wc_fit fit) {
    enum wc_rule rule = wc_rule_from_name(r->compatibility_rule);
    struct wc_version pin;
    bool judged = r->demand_kind == WC_demand_kind_BUILT || wc_spec_pins(r->spec, &pin);

    if (!judged || rule == WC_RULE_NONE)
        return NULL;
    return wc_format(c, fit == WC_FITS ? "accepted: %s" : "refused: %s", wc_rule_explanation(rule));
}

/* The two numbers that a check compares, as it would print them. */
static const char *format_numbers(struct wc_case *c, const struct wc_demand_record *r,
                                  struct wc_version runtime) {
    struct wc_version built = wc_version_of(r->built);

    if (wc_rule_from_name(r->compatibility_rule) != WC_RULE_TENSORFLOW_COMPATIBILITY)
        return wc_format(c, "runtime %ju, built %ju", wc_version_to_number(runtime),
                         wc_version_to_number(built));
    return wc_format(c, "runtime %ju (compatibility %ju), built %ju (compatibility %ju)",
                     wc_version_to_number(runtime), wc_compatibility_number(runtime),
                     wc_version_to_number(built), wc_compatibility_number(built));
}

const char *wc_format_major(struct wc_case *c, int32_t major) {
    return wc_format(c, "==%d.*", major);
}

const char *wc_format_from(struct wc_case *c, struct wc_version first) {
    return wc_format(c, ">=%s,<%d", wc_format_version(c, first), first.major + 1);
}

const char *wc_format_acceptable(struct wc_case *c, const struct wc_demand_record *r) {
    struct wc_version built = wc_version_of(r->built);

    if (r->demand_kind == WC_demand_kind_SYMBOL_VERSION || r->demand_kind == WC_demand_kind_NEEDED)
        return wc_format_major(c, wc_major_wanted(r));
    if (r->demand_kind != WC_demand_kind_BUILT || !wc_version_known(built))
        return r->spec;
    built.build = -1;
    return wc_format(c, "==%s.*", wc_format_version(c, built));
}

void wc_case_demand(struct wc_case *c, const char *name, const struct wc_demand_record *r) {
    const char *source = r->source;

    if (r->source_path)
        source = source ? wc_format(c, "%s, %s", source, r->source_path) : r->source_path;
    wc_case_fact(c, name, wc_format_demand_whole(c, r), source);
}

static void demands_of(struct wc_case *c, const struct wc_judgement *j, bool refused) {
    struct wc_range runtime = j->runtime.range;

    WC_EACH(demand, c->d->s->demands) {
        const struct wc_demand_record *r = &demand->r;
        enum wc_fit fit = wc_demand_fit(r, runtime, wc_own_range(j->library));
        const char *rule = NULL;
        if (!wc_is_demand_by(demand, j->host) || wc_refuses(fit) != refused)
            continue;
        if (r->compatibility_rule)
            rule = wc_format(c, "rule %s", wc_format_name(c, r->compatibility_rule));
        wc_case_demand(c,
                       fit == WC_FITS          ? "satisfied"
                       : fit == WC_FIT_UNKNOWN ? "undecided"
                                               : "wanted",
                       r);
        if (fit == WC_FIT_UNKNOWN)
            continue;
        if (r->demand_kind == WC_demand_kind_BUILT && runtime.exact &&
            wc_version_of(r->built).patch >= 0)
            wc_case_fact(c, "numbers", format_numbers(c, r, runtime.low), rule);
        wc_case_fact(c, "check", format_rule(c, r, fit), rule);
    }
}

/* What may be installed by one source, and is refused by another: PaddlePaddle 3.3.1 was compiled
 * with 9.9 and pins 9.5.1, conda's ranges begin below what was built with. */
static void contradiction(struct wc_case *c, const struct wc_demand_record *allows,
                          const struct wc_demand_record *refuses) {
    struct wc_spec spec;
    struct wc_version floor;

    if (allows->demand_kind != WC_demand_kind_REQUIRED ||
        refuses->demand_kind != WC_demand_kind_BUILT || !wc_spec_read(allows->spec, &spec))
        return;
    floor = wc_spec_floor(&spec);
    floor.build = -1;
    if (wc_version_known(floor) && wc_demand_refuses(refuses, floor))
        wc_case_fact(c, "sources disagree",
                     wc_format(c, "%s, and %s, which refuses %s", wc_format_demand_whole(c, allows),
                               wc_format_demand_whole(c, refuses), wc_format_version(c, floor)),
                     wc_format(c, "%s; %s", allows->source ? allows->source : "?",
                               refuses->source ? refuses->source : "?"));
}

void wc_case_demands(struct wc_case *c, const struct wc_judgement *j) {
    const struct wc_stack *s = c->d->s;

    demands_of(c, j, true);
    demands_of(c, j, false);
    WC_EACH(allows, s->demands)
        WC_EACH(refuses, s->demands)
            if (wc_is_demand_by(allows, j->host) && wc_is_demand_by(refuses, j->host))
                contradiction(c, &allows->r, &refuses->r);
}
