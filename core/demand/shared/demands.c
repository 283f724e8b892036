/* SPDX-License-Identifier: Apache-2.0 */
/* Demands in words: for titles and facts. */
#include "core/demand/finding.h"

enum { NAMED_FUNCTIONS = 3 };

/* Of a title "==9.26.0.51" as cuDNN itself counts. */
const char *wc_format_demand(struct wc_case *c, const struct wc_demand_record *r, bool whole) {
    const char *spec = r->spec, *named = NULL;
    struct wc_version version = wc_text_floor(spec);

    switch (r->demand_kind) {
    case WC_demand_kind_BUILT:
    case WC_demand_kind_REQUIRED:
        version.build = -1;
        if (!whole && wc_spec_pins(spec, NULL))
            spec = wc_format_version(c, version);
        if (r->demand_kind == WC_demand_kind_BUILT)
            return wc_format(c, "%sbuilt with %s", whole ? "" : "it was ", r->built ?: spec ?: "?");
        return wc_format(c, "requires %s%s",
                         whole && r->package ? wc_format_name(c, r->package) : "",
                         spec
                             ?: whole ? r->built
                                      : "?");
    case WC_demand_kind_SYMBOLS:
        spec = wc_version_known(version) ? wc_format_version(c, version) : "?";
        if (!whole)
            return wc_format(c, "it imports functions of %s", spec);
        named = wc_format_list(c, r->newest_functions.p,
                               r->newest_functions.n < NAMED_FUNCTIONS ? r->newest_functions.n
                                                                       : NAMED_FUNCTIONS);
        return wc_format(c, "imports functions that came with %s%s%s", spec, named ? ": " : "",
                         named);
    case WC_demand_kind_SYMBOL_VERSION:
        return wc_format(c, "its imports demand cuDNN %d", wc_major_wanted(r));
    case WC_demand_kind_NEEDED:
        return wc_format(c, "it was linked with cuDNN %d", wc_major_wanted(r));
    default:
        return spec ?: r->built;
    }
}

void wc_case_demand(struct wc_case *c, enum wc_fact_role role, const struct wc_demand_record *r) {
    const char *source = r->source;

    if (r->source_path)
        source = source ? wc_format(c, "%s, %s", source, r->source_path) : r->source_path;
    wc_case_fact_from(c, role, wc_format_demand(c, r, true), source);
}
