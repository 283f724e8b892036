/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/names/symbols.h"
#include "making.h"
#include "tools/diagnose/causes/gpu.h"

/* Without builds. */
static const char *set_of(struct wc_arena *memory, struct wc_version low, struct wc_version high) {
    low.build = high.build = -1;
    return wc_format_releases(memory, low, high);
}

struct wc_hosts make_hosts(const struct wc_stack *s) {
    struct wc_hosts all = {.n = 0};

    WC_EACH(host, s->objects)
        if (wc_wants_cudnn(host) && all.n < sizeof(all.p) / sizeof(*all.p))
            all.p[all.n++] = host;
    return all;
}

const char *make_from(struct making *m, struct wc_version first) {
    return set_of(m->out->memory, first, (struct wc_version){first.major + 1, -1, -1, -1});
}

const char *make_common(struct making *m, const struct wc_hosts *hosts) {
    struct wc_version low, high;

    return wc_common_releases(m->s, hosts, &low, &high) ? set_of(m->out->memory, low, high) : NULL;
}

const char *candidates_accepted(struct wc_arena *memory, const struct wc_demand_record *demand) {
    const struct wc_version built = wc_version_of(demand->built);
    const struct wc_version ends[] = {{built.major, built.minor, built.patch + 1, -1},
                                      {built.major, built.minor + 1, 0, -1},
                                      {built.major + 1, 0, 0, -1}};
    size_t i = 0;

    if (demand->spec || built.patch < 0 || wc_demand_refuses(demand, built))
        return NULL;
    while (i < 2 && !wc_demand_refuses(demand, ends[i]))
        i++;
    return set_of(memory, built, ends[i]);
}

/* ---- releases that NVIDIA's own words are about ---- */

static const struct {
    const char *bad, *instead;
} bad_releases[] = {
#define BAD_RELEASE(releases, framework, of_it, what, instead, source) {releases, instead},
#include "core/knowledge/bad_releases.def"
};

/* Of all GPUs it must be known that they have code. What goes on without an end has it for later
 * ones, too. */
static bool knows_gpus(const struct wc_stack *s, const struct gpu_row *row) {
    WC_EACH(gpu, s->machine.gpus) {
        const struct wc_version capability = gpu_capability(*gpu);
        if (!wc_version_known(capability) || gpu_is_too_old(row, capability) ||
            gpu_is_too_new(row, capability) || (!*row->most && *row->last))
            return false;
    }
    return s->machine.gpus.n > 0;
}

/* Low <= release < high; each may be unknown. */
struct range {
    struct wc_version low, high;
};

/* For the GPUs of the process, made for that CUDA. */
#define EACH_GPU_ROW(s, of_cuda)                                                                   \
    WC_EACH(row, gpu_table)                                                                        \
        if (gpu_row_of(wc_version_of(row->first), of_cuda) == row && knows_gpus(s, row))

bool candidates_has_gpu_code(const struct wc_stack *s, struct wc_version release) {
    const struct gpu_row *row = gpu_row_of(release, wc_cuda_of_dependencies(s));

    return row && knows_gpus(s, row);
}

static bool is_found(const struct making *m, const char *id) {
    return WC_ANY(f, m->base->findings, wc_str_same(f->id, id)) ||
           WC_ANY(f, m->base->of_end, wc_str_same(f->id, id));
}

struct entries make_other_releases(struct making *m, const struct wc_object *facade,
                                   const char *package) {
    struct entries all = {NULL, 0};
    struct wc_spec bad;

    WC_EACH_ROW(row, bad_releases)
        if (is_found(m, "known-bad-release") && wc_spec_read(row->bad, &bad) &&
            wc_spec_accepts(&bad, facade->version) == WC_YES)
            make_add(m, &all, row->instead);
    if (is_found(m, "gpu-unsupported"))
        EACH_GPU_ROW(m->s, wc_cuda_in_package(package)) {
            char end[WC_VERSION_TEXT];
            if (wc_version_of(row->first).major == facade->version.major)
                make_add(m, &all,
                         make_format(m, ">=%s%s%s", row->first, *row->last ? ",<" : "",
                                     wc_version_text(gpu_row_end(row), end)));
        }
    return all;
}

/* ---- all that is wanted, as sets ---- */

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

static void narrow(struct range *r, struct wc_version low, struct wc_version high) {
    if (wc_version_known(low) && (!wc_version_known(r->low) || wc_version_compare(low, r->low) > 0))
        r->low = low;
    if (wc_version_known(high) &&
        (!wc_version_known(r->high) || wc_version_compare(high, r->high) < 0))
        r->high = high;
}

/* What a set lets in, from its least to its greatest; single releases that it leaves out count as
 * in. */
static void narrow_to(struct range *r, const struct wc_spec *spec) {
    for (size_t i = 0; i < spec->n; i++) {
        struct wc_version v = spec->clause[i].version, high = v;
        v.build = -1;
        switch (spec->clause[i].op) {
        case WC_GT:
            narrow(r, after(v), WC_VERSION_NONE);
            break;
        case WC_LT:
            narrow(r, WC_VERSION_NONE, v);
            break;
        case WC_LE:
            narrow(r, WC_VERSION_NONE, after(v));
            break;
        case WC_COMPATIBLE:
            if (high.patch < 0)
                high.minor = -1;
            high.patch = -1;
            narrow(r, v, after(high));
            break;
        case WC_EQ:
        case WC_EQ_PREFIX:
            narrow(r, v, after(v));
            break;
        case WC_GE:
            narrow(r, v, WC_VERSION_NONE);
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

struct wanting {
    struct making *m;
    struct range all;   /* whichever release of it somebody takes must do */
    struct entries out; /* sets */
};

static void add_range(struct wanting *w, struct range r) {
    char low[WC_VERSION_TEXT], high[WC_VERSION_TEXT];

    if (is_empty(&r) || !wc_version_known(r.low) || w->out.n == SPECS_MOST)
        return;
    wc_version_format(r.low, low);
    wc_version_format(r.high, high);
    make_add(w->m, &w->out,
             wc_version_known(r.high) ? make_format(w->m, ">=%s,<%s", low, high)
                                      : make_format(w->m, ">=%s", low));
}

/* What has nothing in common with the others is a set of its own. */
static void want_range(struct wanting *w, struct range r) {
    struct range both = w->all;

    narrow(&both, r.low, r.high);
    if (is_empty(&both))
        add_range(w, r);
    else
        w->all = both;
}

static void want_spec(struct wanting *w, const char *spec) {
    struct range r = {WC_VERSION_NONE, WC_VERSION_NONE};
    struct wc_spec read;

    if (spec && wc_spec_read(spec, &read)) {
        narrow_to(&r, &read);
        want_range(w, r);
    }
}

static void want_major(struct wanting *w, struct wc_version from) {
    const struct wc_version end = {from.major + 1, -1, -1, -1};

    from.build = -1;
    if (wc_version_known(from))
        want_range(w, (struct range){from, end});
}

/* A part of another major is asked for by a host that was made for that one. */
static void want_name(struct wanting *w, const char *name) {
    struct wc_name asked = wc_name_read(name ? wc_base_name(name) : "");

    if (asked.kind == WC_NAME_FACADE)
        want_major(w, asked.version);
}

struct entries make_wanted(struct making *m) {
    const struct wc_version none = WC_VERSION_NONE;
    const struct wc_hosts hosts = make_hosts(m->s);
    struct wanting w = {.m = m, .all = {none, none}};

    want_spec(&w, make_common(m, &hosts));
    WC_EACH(d, m->s->demands) /* a host that did not come in counts as none yet */
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION ||
            d->r.demand_kind == WC_demand_kind_REQUIRED ||
            !wc_object_of(m->s, d->r.host, d->r.host_path))
            want_spec(&w, d->r.spec ? d->r.spec : candidates_accepted(m->out->memory, &d->r));
    WC_EACH(d, m->s->demands)
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION && !d->r.spec)
            want_major(&w, wc_version_of(d->r.built));
    WC_EACH(failure, m->s->failures) {
        const int function = failure->r.function ? wc_function_find(failure->r.function) : -1;
        if (function >= 0)
            want_range(&w, (struct range){wc_function_first(function), none});
        want_name(&w, failure->r.name);
        want_name(&w, wc_missing_of(failure));
    }
    WC_EACH(file, m->s->files)
        if (file->r.fault != WC_file_fault_UNKNOWN)
            want_name(&w, file->r.path);
    WC_EACH(o, m->s->objects) {
        const struct wc_version header = wc_version_of(o->r.header_version);
        struct range both = w.all;
        want_name(&w, o->r.asked_name);
        /* What was compiled with the header that is there may want no other release. */
        both = w.all;
        if (wc_version_known(header))
            narrow(&both, header, after(header));
        if (!is_empty(&both))
            w.all = both;
    }
    if (!is_found(m, "gpu-unsupported"))
        add_range(&w, w.all);
    else
        EACH_GPU_ROW(m->s, wc_cuda_of_dependencies(m->s)) {
            struct range both = w.all;
            narrow(&both, wc_version_of(row->first), gpu_row_end(row));
            add_range(&w, both);
        }
    return w.out;
}
