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

    if (!r->spec || !wc_spec_parse(r->spec, wc_str_length(r->spec), &spec))
        return "?";
    return wc_format_version(c, wc_spec_floor(&spec));
}

static bool in_wheel(const struct wc_demand_record *r) {
    return r->source && wc_str_starts(r->source, "METADATA");
}

const char *wc_format_demand(struct wc_case *c, const struct wc_demand_record *r) {
    switch (r->demand_kind) {
    case WC_demand_kind_BUILT:
        return wc_format(c, "it was built with ",
                         r->built  ? r->built
                         : r->spec ? format_spec(c, r->spec)
                                   : "?",
                         NULL);
    case WC_demand_kind_REQUIRED:
        return wc_format(c, in_wheel(r) ? "its wheel requires " : "its package requires ",
                         r->spec ? format_spec(c, r->spec) : "?", NULL);
    case WC_demand_kind_SYMBOLS:
        return wc_format(c, "it imports functions of ", format_floor(c, r), NULL);
    case WC_demand_kind_SYMBOL_VERSION:
        return wc_format(c, "its imports demand cuDNN ", wc_format_number(c, wc_major_wanted(r)),
                         NULL);
    case WC_demand_kind_NEEDED:
        return wc_format(c, "it was linked with cuDNN ", wc_format_number(c, wc_major_wanted(r)),
                         NULL);
    default:
        return r->spec ? r->spec : r->built;
    }
}

static const char *format_functions(struct wc_case *c, const struct wc_strings *names) {
    const char *printed = NULL;

    for (size_t i = 0; i < names->n && i < NAMED_FUNCTIONS; i++)
        printed = printed ? wc_format(c, printed, ", ", wc_format_name(c, names->p[i]), NULL)
                          : wc_format_name(c, names->p[i]);
    return printed;
}

/* What the source says, in full. */
const char *wc_format_demand_whole(struct wc_case *c, const struct wc_demand_record *r) {
    const char *newest;

    switch (r->demand_kind) {
    case WC_demand_kind_BUILT:
        return wc_format(c, "built with ", r->built ? r->built : r->spec, NULL);
    case WC_demand_kind_REQUIRED:
        return wc_format(c, "requires ", r->package ? wc_format_name(c, r->package) : "",
                         r->spec ? r->spec : r->built, NULL);
    case WC_demand_kind_SYMBOLS:
        newest = format_functions(c, &r->newest_functions);
        return wc_format(c, "imports functions that came with ", format_floor(c, r),
                         newest ? ": " : "", newest, NULL);
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
    return wc_format(c, fit == WC_FITS ? "accepted: " : "refused: ", wc_rule_explanation(rule),
                     NULL);
}

/* The two numbers that a check compares, as it would print them. */
static const char *format_numbers(struct wc_case *c, const struct wc_demand_record *r,
                                  const struct wc_range *runtime) {
    struct wc_version built;
    bool compatibility =
        wc_rule_from_name(r->compatibility_rule) == WC_RULE_TENSORFLOW_COMPATIBILITY;

    if (r->demand_kind != WC_demand_kind_BUILT || !runtime->exact || !r->built ||
        !wc_version_parse(r->built, wc_str_length(r->built), &built) || built.patch < 0)
        return NULL;
    if (!compatibility)
        return wc_format(
            c, "runtime ", wc_format_number(c, (int64_t)wc_version_to_number(runtime->low)),
            ", built ", wc_format_number(c, (int64_t)wc_version_to_number(built)), NULL);
    return wc_format(
        c, "runtime ", wc_format_number(c, (int64_t)wc_version_to_number(runtime->low)),
        " (compatibility ", wc_format_number(c, (int64_t)wc_compatibility_number(runtime->low)),
        "), built ", wc_format_number(c, (int64_t)wc_version_to_number(built)), " (compatibility ",
        wc_format_number(c, (int64_t)wc_compatibility_number(built)), ")", NULL);
}

const char *wc_format_acceptable(struct wc_case *c, const struct wc_demand_record *r) {
    struct wc_version v;
    char text[WC_VERSION_TEXT];

    if (r->demand_kind == WC_demand_kind_SYMBOL_VERSION || r->demand_kind == WC_demand_kind_NEEDED)
        return wc_format(c, "==", wc_format_number(c, wc_major_wanted(r)), ".*", NULL);
    if (r->demand_kind != WC_demand_kind_BUILT || !r->built ||
        !wc_version_parse(r->built, wc_str_length(r->built), &v))
        return r->spec;
    v.build = -1;
    return wc_format(c, "==", wc_version_format(v, text), ".*", NULL);
}

const char *wc_format_demand_source(struct wc_case *c, const struct wc_demand_record *r) {
    if (!r->source_path)
        return r->source;
    return wc_format(c, r->source ? r->source : "", r->source ? ", " : "", r->source_path, NULL);
}

static void one_demand(struct wc_case *c, const struct wc_demand_record *r, enum wc_fit fit,
                       const struct wc_range *runtime) {
    const char *name = fit == WC_FITS          ? "satisfied"
                       : fit == WC_FIT_UNKNOWN ? "undecided"
                                               : "wanted";
    const char *rule = r->compatibility_rule
                           ? wc_format(c, "rule ", wc_format_name(c, r->compatibility_rule), NULL)
                           : NULL;

    wc_case_fact(c, name, wc_format_demand_whole(c, r), wc_format_demand_source(c, r));
    if (fit == WC_FIT_UNKNOWN)
        return;
    wc_case_fact(c, "numbers", format_numbers(c, r, runtime), rule);
    wc_case_fact(c, "check", format_rule(c, r, fit), rule);
}

static void demands_of(struct wc_case *c, const struct wc_judgement *j, bool refused) {
    const struct wc_stack *s = c->d->s;
    struct wc_range own = wc_own_range(j->library);

    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *r = &s->demands.p[i].r;
        enum wc_fit fit;
        if (r->demand_kind == WC_demand_kind_EXPECTATION ||
            !wc_means(j->host, r->host, r->host_path))
            continue;
        fit = wc_demand_fit(r, &j->runtime.range, &own);
        if ((fit != WC_FITS && fit != WC_FIT_UNKNOWN) == refused)
            one_demand(c, r, fit, &j->runtime.range);
    }
}

/* What may be installed by one source, and is refused by another: PaddlePaddle 3.3.1 was compiled
 * with 9.9 and pins 9.5.1, conda's ranges begin below what was built with. */
static void contradiction(struct wc_case *c, const struct wc_demand_record *allows,
                          const struct wc_demand_record *refuses) {
    struct wc_spec spec;
    struct wc_version floor;

    if (allows->demand_kind != WC_demand_kind_REQUIRED ||
        refuses->demand_kind != WC_demand_kind_BUILT || !allows->spec ||
        !wc_spec_parse(allows->spec, wc_str_length(allows->spec), &spec))
        return;
    floor = wc_spec_floor(&spec);
    floor.build = -1;
    if (wc_version_known(floor) && wc_demand_refuses(refuses, floor))
        wc_case_fact(c, "sources disagree",
                     wc_format(c, wc_format_demand_whole(c, allows), ", and ",
                               wc_format_demand_whole(c, refuses), ", which refuses ",
                               wc_format_version(c, floor), NULL),
                     wc_format(c, allows->source ? allows->source : "?", "; ",
                               refuses->source ? refuses->source : "?", NULL));
}

static void contradictions(struct wc_case *c, const struct wc_object *host) {
    const struct wc_stack *s = c->d->s;

    for (size_t i = 0; i < s->demands.n; i++)
        for (size_t k = 0; k < s->demands.n; k++)
            if (wc_means(host, s->demands.p[i].r.host, s->demands.p[i].r.host_path) &&
                wc_means(host, s->demands.p[k].r.host, s->demands.p[k].r.host_path))
                contradiction(c, &s->demands.p[i].r, &s->demands.p[k].r);
}

void wc_case_demands(struct wc_case *c, const struct wc_judgement *j) {
    demands_of(c, j, true);
    demands_of(c, j, false);
    contradictions(c, j->host);
}
