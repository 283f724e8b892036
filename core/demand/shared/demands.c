/* SPDX-License-Identifier: Apache-2.0 */
/* Demands in words: for titles and facts. */
#include "core/demand/finding.h"

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
        return wc_format(c, "requires %s", spec);
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

const char *wc_format_acceptable(struct wc_case *c, const struct wc_demand_record *r) {
    struct wc_version built = wc_version_of(r->built);

    if (r->demand_kind == WC_demand_kind_SYMBOL_VERSION || r->demand_kind == WC_demand_kind_NEEDED)
        return wc_format(c, "==%d.*", wc_major_wanted(r));
    if (r->demand_kind != WC_demand_kind_BUILT || !wc_version_known(built))
        return r->spec;
    built.build = -1;
    return wc_format(c, "==%s.*", wc_format_version(c, built));
}

void wc_case_demand(struct wc_case *c, enum wc_fact_role role, const struct wc_demand_record *r) {
    const char *source = r->source;

    if (r->source_path)
        source = source ? wc_format(c, "%s, %s", source, r->source_path) : r->source_path;
    wc_case_fact_from(c, role, wc_format_demand_whole(c, r), source);
}
