/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of libraries as ranges: what a file is, and what cudnnGetVersion would say. Unknown
 * fields make a range wide, never a guess.
 */
#include "core/demand/finding.h"
#include "core/packages/identify.h"

/* Greatest fields that CUDNN_VERSION has room for: one digit for the minor before 9, two since. */
enum { NEW_NUMBERS = 9, PATCH_MOST = 99, MINOR_MOST = 99, OLD_MINOR_MOST = 9 };

struct wc_version wc_version_filled(struct wc_version v, int32_t minor, int32_t patch) {
    if (!wc_version_known(v))
        return v;
    return (struct wc_version){v.major, v.minor < 0 ? minor : v.minor,
                               v.patch < 0 ? patch : v.patch, -1};
}

static struct wc_range range_between(struct wc_version low, struct wc_version high,
                                     const char *source) {
    const int32_t minor = high.major < NEW_NUMBERS ? OLD_MINOR_MOST : MINOR_MOST;
    struct wc_range r = {wc_version_filled(low, 0, 0),
                         wc_version_filled(high, minor, PATCH_MOST),
                         low,
                         high,
                         false,
                         source};

    if (!wc_version_known(r.low) || !wc_version_known(r.high))
        r.low = r.high = WC_VERSION_NONE;
    else
        r.exact = wc_version_compare(r.low, r.high) == 0;
    return r;
}

struct wc_range wc_exactly(struct wc_version v) {
    return (struct wc_range){.low = v, .high = v, .floor = v, .ceiling = v, .exact = true};
}

static const char *source_word(enum wc_version_source source) {
    return wc_enum_word(WC_ENUM_version_source, source);
}

/* Seen with 9.1.0 over the graph part of 9.28.0 and with 8.9.2 over the ops_infer of 8.5.0. */
const char *wc_answering_part(int32_t major) {
    return major >= 9 ? "graph" : major == 8 ? "ops_infer" : NULL;
}

static struct wc_range by_bounds(const struct wc_object *o) {
    int32_t major = wc_major_of(o);
    struct wc_version low = o->floor, high = o->ceiling, bare = {major, -1, -1, -1};
    bool bounded = wc_version_known(low) || wc_version_known(high);

    if (major >= 0 && !wc_version_known(low))
        low = bare;
    if (major >= 0 && !wc_version_known(high))
        high = bare;
    return range_between(low, high, bounded ? source_word(WC_version_source_EXPORTS) : "SONAME");
}

struct wc_range wc_own_range(const struct wc_object *o) {
    struct wc_range bounds = by_bounds(o), told;

    /* The number that such a facade returned is not its own. */
    if (!wc_version_known(o->version) ||
        (o->r.role == WC_role_FACADE && wc_answering_part(o->version.major) &&
         o->r.version_source == WC_version_source_RETURNED))
        return bounds;
    told = range_between(o->version, o->version, source_word(o->r.version_source));
    return wc_version_is_claim(o->r.version_source) && !wc_ranges_meet(told, bounds) ? bounds
                                                                                     : told;
}

struct wc_range wc_seen_range(const struct wc_object *o) {
    return wc_version_is_claim(o->r.version_source) ? by_bounds(o) : wc_own_range(o);
}

bool wc_ranges_meet(struct wc_range a, struct wc_range b) {
    if (!wc_version_known(a.low) || !wc_version_known(b.low))
        return true;
    return wc_version_compare(a.low, b.high) <= 0 && wc_version_compare(b.low, a.high) <= 0;
}

const char *wc_format_range(struct wc_case *c, struct wc_range r) {
    char low[WC_VERSION_TEXT], high[WC_VERSION_TEXT];
    bool no_least = r.floor.minor < 0, no_greatest = r.ceiling.minor < 0;

    wc_version_format(r.floor, low);
    wc_version_format(r.ceiling, high);
    if (!wc_version_known(r.low))
        return "unknown";
    if (no_least && no_greatest)
        return wc_format(c, "%s (which release is unknown)", low);
    if (wc_str_same(low, high))
        return wc_format(c, "%s", low);
    if (no_greatest)
        return wc_format(c, "%s or newer", low);
    if (no_least)
        return wc_format(c, "%s or older", high);
    return wc_format(c, "between %s and %s", low, high);
}

const char *wc_format_own(struct wc_case *c, const struct wc_object *o) {
    return wc_format_range(c, wc_own_range(o));
}

/* A toolkit's file has it in its name, a wheel's package in its version. */
const char *wc_cuda_release(struct wc_case *c, const struct wc_object *o) {
    struct wc_name n = wc_name_read(wc_real_path_of(o));

    if (n.version.minor >= 0)
        return wc_format_version(c, n.version);
    return o->r.installation_kind == WC_installation_kind_CUDA_TOOLKIT ? NULL
                                                                       : o->r.installation_version;
}

/* ---- what cudnnGetVersion says ---- */

/* A stub of a framework returns 0 while it has not found cuDNN. */
static struct wc_version returned_by(const struct wc_stack *s, const struct wc_object *library) {
    for (size_t i = s->calls.n; i > 0; i--) {
        const struct wc_call_record *r = &s->calls.p[i - 1].r;
        if (r->phase == WC_phase_AFTER && r->returned_version > 0 &&
            wc_str_same(r->function, "cudnnGetVersion") &&
            wc_means(library, r->target, r->target_path))
            return wc_version_from_number((uint64_t)r->returned_version);
    }
    return WC_VERSION_NONE;
}

/* Which part answers follows from the facade's major, and from the part's own where that is not
 * known. */
static bool answers(const struct wc_object *part, const struct wc_object *facade) {
    int32_t major = wc_major_of(facade);

    return part->r.role == WC_role_PART &&
           wc_str_same(part->r.part, wc_answering_part(major < 0 ? wc_major_of(part) : major));
}

struct wc_runtime wc_runtime_of(const struct wc_stack *s, const struct wc_object *library) {
    struct wc_runtime r = {.predicted = false};
    struct wc_version returned = returned_by(s, library);
    const struct wc_object *facade = wc_facade_of(s, library);
    const struct wc_object *part =
        WC_FIRST(o, s->objects, facade && answers(o, facade) && wc_in_set(s, o, facade));

    if (wc_version_known(returned)) {
        r.range = range_between(returned, returned, source_word(WC_version_source_RETURNED));
        return r;
    }
    r.decided_by = facade ? facade : library;
    r.range = wc_own_range(part ? part : r.decided_by);
    if (part && r.range.exact) {
        r.decided_by = part;
        return r;
    }
    r.range = wc_own_range(r.decided_by);
    r.predicted =
        wc_answering_part(wc_major_of(r.decided_by)) && !answers(r.decided_by, r.decided_by);
    return r;
}

void wc_case_runtime(struct wc_case *c, const struct wc_runtime *runtime) {
    wc_case_fact_from(c, WC_FACT_RUNTIME_VERSION, wc_format_range(c, runtime->range),
                      runtime->range.source);
}
