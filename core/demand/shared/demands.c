/* SPDX-License-Identifier: Apache-2.0 */
/* Demands in words: for titles and facts. */
#include "core/demand/finding.h"

enum { NAMED_FUNCTIONS = 3 };

/* whole: what the source says, in full; else for a title: "==9.26.0.51" as cuDNN itself counts. */
static const char *format_demand(struct wc_case *c, const struct wc_demand_record *r, bool whole) {
    const char *spec = r->spec, *named = NULL;
    struct wc_version version;
    struct wc_spec set;

    switch (r->demand_kind) {
    case WC_demand_kind_BUILT:
    case WC_demand_kind_REQUIRED:
        version = WC_VERSION_NONE;
        if (!whole && wc_spec_pins(spec, &version))
            version.build = -1;
        if (wc_version_known(version))
            spec = wc_format_version(c, version);
        if (r->demand_kind == WC_demand_kind_BUILT)
            return wc_format(c, "%sbuilt with %s", whole ? "" : "it was ", r->built ?: spec ?: "?");
        return wc_format(c, "requires %s%s",
                         whole && r->package ? wc_format_name(c, r->package) : "",
                         spec
                             ?: whole ? r->built
                                      : "?");
    case WC_demand_kind_SYMBOLS:
        spec = wc_spec_read(spec, &set) ? wc_format_version(c, wc_spec_floor(&set)) : "?";
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

const char *wc_format_demand(struct wc_case *c, const struct wc_demand_record *r) {
    return format_demand(c, r, false);
}

const char *wc_format_demand_whole(struct wc_case *c, const struct wc_demand_record *r) {
    return format_demand(c, r, true);
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
