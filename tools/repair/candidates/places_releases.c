/* SPDX-License-Identifier: Apache-2.0 */
#include "places_inside.h"

#include "core/findings/finding.h"
#include "core/model/symbols.h"

struct range { /* low <= release < high; each may be unknown */
    struct wc_version low, high;
};

static struct wc_version after(struct wc_version v) {
    if (v.patch >= 0)
        v.patch++;
    else if (v.minor >= 0)
        v.minor++;
    else
        v.major++;
    v.build = -1;
    return v;
}

static void raise(struct range *r, struct wc_version low) {
    if (!wc_version_known(r->low) || wc_version_compare(low, r->low) > 0)
        r->low = low;
}

static void lower(struct range *r, struct wc_version high) {
    if (!wc_version_known(r->high) || wc_version_compare(high, r->high) < 0)
        r->high = high;
}

/* What a set lets in, from its least to its greatest; single releases that it leaves out count as
 * in. */
static void narrow(struct range *r, const struct wc_spec *spec) {
    for (size_t i = 0; i < spec->n; i++) {
        struct wc_version v = spec->clause[i].version, high = v;
        v.build = -1;
        switch (spec->clause[i].op) {
        case WC_GT:
            raise(r, after(v));
            break;
        case WC_LT:
            lower(r, v);
            break;
        case WC_LE:
            lower(r, after(v));
            break;
        case WC_COMPATIBLE:
            raise(r, v);
            if (high.patch < 0)
                high.minor = -1;
            high.patch = -1;
            lower(r, after(high));
            break;
        case WC_EQ:
        case WC_EQ_PREFIX:
            raise(r, v);
            lower(r, after(v));
            break;
        case WC_GE:
            raise(r, v);
            break;
        default:
            break;
        }
    }
}

static bool is_empty(const struct range *r) {
    return wc_version_known(r->low) && wc_version_known(r->high) &&
           wc_version_compare(r->low, r->high) >= 0;
}

static void add_range(struct finding_places *f, struct range r) {
    char low[WC_VERSION_TEXT], high[WC_VERSION_TEXT];

    if (is_empty(&r) || !wc_version_known(r.low))
        return;
    wc_version_format(r.low, low);
    wc_version_format(r.high, high);
    f->specs = places_add_text(f->spec, f->specs, SPECS_MOST,
                               wc_version_known(r.high) ? places_format(f, ">=%s,<%s", low, high)
                                                        : places_format(f, ">=%s", low));
}

/* All that is wanted in one set: whichever release of it somebody takes must do. What has nothing
 * in common with the others is a set of its own. */
static void add_spec(struct finding_places *f, struct range *all, const char *spec) {
    struct range both = *all, alone = {WC_VERSION_NONE, WC_VERSION_NONE};
    struct wc_spec read;

    if (!spec || !wc_spec_read(spec, &read))
        return;
    narrow(&both, &read);
    narrow(&alone, &read);
    if (is_empty(&both))
        add_range(f, alone);
    else
        *all = both;
}

static void add_major(struct finding_places *f, struct range *all, struct wc_version from) {
    char text[WC_VERSION_TEXT];

    from.build = -1;
    if (wc_version_known(from))
        add_spec(f, all,
                 places_format(f, ">=%s,<%d", wc_version_format(from, text), from.major + 1));
}

static void add_from(struct finding_places *f, struct range *all, struct wc_version from) {
    char text[WC_VERSION_TEXT];

    if (wc_version_known(from))
        add_spec(f, all, places_format(f, ">=%s", wc_version_format(from, text)));
}

/* A part of another major is asked for by a host that was made for that one. */
static void add_asked(struct finding_places *f, struct range *all, const char *name) {
    struct wc_name asked = wc_name_read(name ? wc_base_name(name) : "");

    if (asked.kind == WC_NAME_FACADE)
        add_major(f, all, asked.version);
}

/* What was compiled with the header that is there may want no other release. */
static void narrowed_to_header(struct range *all, const struct wc_object *o) {
    const struct wc_version header =
        o->r.header_version ? wc_version_of(o->r.header_version) : WC_VERSION_NONE;
    struct range both = *all;

    if (!wc_version_known(header))
        return;
    raise(&both, header);
    lower(&both, after(header));
    if (!is_empty(&both))
        *all = both;
}

/* Releases of the set that have code for the GPUs. */
static void add_gpu_ranges(struct finding_places *f, struct range all) {
    struct wc_version first, end;

    for (size_t i = 0; candidates_gpu_releases(f->s, i, &first, &end); i++) {
        struct range both = all;
        raise(&both, first);
        if (wc_version_known(end))
            lower(&both, end);
        add_range(f, both);
    }
}

void places_find_specs(struct finding_places *f) {
    struct range all = {WC_VERSION_NONE, WC_VERSION_NONE};
    struct wc_hosts hosts = {.n = 0};

    WC_EACH(host, f->s->objects)
        if (wc_wants_cudnn(host) && hosts.n < 16)
            hosts.p[hosts.n++] = host;
    add_spec(f, &all, candidates_common(f->out, f->s, &hosts));
    WC_EACH(d, f->s->demands) /* a host that did not come in counts as none yet */
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION ||
            d->r.demand_kind == WC_demand_kind_REQUIRED ||
            !wc_object_of(f->s, d->r.host, d->r.host_path))
            add_spec(f, &all, d->r.spec ? d->r.spec : candidates_accepted(f->out, &d->r));
    WC_EACH(d, f->s->demands)
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION && !d->r.spec)
            add_major(f, &all, wc_version_of(d->r.built));
    WC_EACH(failure, f->s->failures) {
        const int function = failure->r.function ? wc_function_find(failure->r.function) : -1;
        if (function >= 0)
            add_from(f, &all, wc_function_first(function));
        add_asked(f, &all, failure->r.name);
        add_asked(f, &all, places_missing_of(f, failure));
    }
    WC_EACH(file, f->s->files)
        if (file->r.fault != WC_file_fault_UNKNOWN)
            add_asked(f, &all, file->r.path);
    WC_EACH(o, f->s->objects) {
        add_asked(f, &all, o->r.asked_name);
        narrowed_to_header(&all, o);
    }
    if (f->for_gpu)
        add_gpu_ranges(f, all);
    else
        add_range(f, all);
}
