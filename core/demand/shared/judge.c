/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host requires against what it got. A framework's own check decides where it is known
 * (core/knowledge/rules.def), a range in package metadata decides by itself, the oldest
 * release with all imported functions and the major of a symbol version are bounds. A range of
 * possible versions fails only when both its ends fail in the same way.
 */
#include "core/demand/finding.h"

bool wc_spec_pins(const char *spec, struct wc_version *out) {
    struct wc_spec s;

    if (!wc_spec_read(spec, &s) || s.n != 1 || s.clause[0].op != WC_EQ)
        return false;
    if (out)
        *out = s.clause[0].version;
    return true;
}

/* ---- a PEP 440 set ---- */

/* On which side of a clause that refuses it does v lie? */
static enum wc_fit refused_by(enum wc_spec_op op, struct wc_version bound, struct wc_version v) {
    if (v.build < 0)
        bound.build = -1;
    switch (op) {
    case WC_NE:
    case WC_NE_PREFIX:
        return WC_TOO_OLD; /* one release is left out: the way on is to a newer one */
    case WC_LT:
        if (v.major > bound.major ||
            (v.major == bound.major && bound.minor <= 0 && bound.patch <= 0))
            return WC_OTHER_MAJOR; /* "<10.0" is how metadata says "of major 9" */
        return WC_TOO_NEW;
    case WC_LE:
        return v.major > bound.major ? WC_OTHER_MAJOR : WC_TOO_NEW;
    default:
        if (v.major != bound.major)
            return WC_OTHER_MAJOR;
        return wc_version_compare(v, bound) > 0 ? WC_TOO_NEW : WC_TOO_OLD;
    }
}

static enum wc_fit spec_fit_of(const struct wc_spec *spec, struct wc_version v) {
    enum wc_answer answer = wc_spec_accepts(spec, v);
    enum wc_fit worst = WC_FIT_UNKNOWN;

    if (answer != WC_NO)
        return answer == WC_YES ? WC_FITS : WC_FIT_UNKNOWN;
    for (size_t i = 0; i < spec->n; i++) {
        const struct wc_spec one = {.clause = {spec->clause[i]}, .n = 1};
        if (wc_spec_accepts(&one, v) != WC_NO)
            continue;
        enum wc_fit fit = refused_by(one.clause[0].op, one.clause[0].version, v);
        if (worst == WC_FIT_UNKNOWN || fit == WC_OTHER_MAJOR)
            worst = fit;
    }
    return worst;
}

static enum wc_fit both(enum wc_fit low, enum wc_fit high) {
    return low == high ? low : WC_FIT_UNKNOWN;
}

/* ---- one demand ---- */

enum wc_rule wc_rule_for(const struct wc_demand_record *r) {
    enum wc_rule rule = wc_rule_from_name(r->compatibility_rule);

    if (rule != WC_RULE_NONE)
        return rule;
    return r->demand_kind == WC_demand_kind_EXPECTATION ? WC_RULE_EXPECTED : WC_RULE_NVIDIA;
}

static enum wc_fit by_metadata(const struct wc_demand_record *r, struct wc_range range) {
    struct wc_version built = wc_version_of(r->built);
    struct wc_spec spec;

    /* A rule compares with what was built with, or what is pinned. */
    if ((r->demand_kind == WC_demand_kind_REQUIRED || !wc_version_known(built)) &&
        !wc_spec_pins(r->spec, &built))
        built = WC_VERSION_NONE;
    if (!wc_version_known(range.low))
        return WC_FIT_UNKNOWN;
    if (wc_version_known(built))
        return both(wc_rule_check(wc_rule_for(r), built, range.low),
                    wc_rule_check(wc_rule_for(r), built, range.high));
    if (!wc_spec_read(r->spec, &spec) || !spec.n)
        return WC_FIT_UNKNOWN;
    return both(spec_fit_of(&spec, range.low), spec_fit_of(&spec, range.high));
}

bool wc_is_demand_of(const struct wc_demand_record *r, const char *file) {
    if (!r->host_path || !file)
        return false;
    return wc_str_find_char(file, '/') ? wc_str_same(r->host_path, file)
                                       : wc_str_same(wc_base_name(r->host_path), file);
}

const struct wc_demand_record *wc_demand_of(const struct wc_stack *s, const char *file,
                                            enum wc_demand_kind kind) {
    const struct wc_demand *found = WC_FIRST(
        demand, s->demands, demand->r.demand_kind == kind && wc_is_demand_of(&demand->r, file));

    return found ? &found->r : NULL;
}

bool wc_is_linked_with_none(const struct wc_stack *s, const char *file) {
    return wc_demand_of(s, file, WC_demand_kind_SYMBOLS) &&
           !wc_demand_of(s, file, WC_demand_kind_NEEDED);
}

int32_t wc_major_wanted(const struct wc_demand_record *r) {
    struct wc_version v = wc_version_of(r->built);
    struct wc_spec spec;

    if (!wc_version_known(v) && wc_spec_read(r->spec, &spec) && spec.n == 1)
        v = spec.clause[0].version;
    /* Names before cuDNN 4 are numbered after CUDA: libcudnn.so.6.5, libcudnn.so.7.0. */
    return v.minor >= 0 ? -1 : v.major;
}

enum wc_fit wc_demand_fit(const struct wc_demand_record *r, struct wc_range runtime,
                          struct wc_range own) {
    struct wc_version floor;

    switch (r->demand_kind) {
    case WC_demand_kind_BUILT:
    case WC_demand_kind_REQUIRED:
    case WC_demand_kind_EXPECTATION:
        return by_metadata(r, runtime);
    case WC_demand_kind_SYMBOLS: /* a newer major may have all functions: only the floor counts */
        floor = wc_text_floor(r->spec);
        if (!wc_version_known(floor) || !wc_version_known(own.low))
            return WC_FIT_UNKNOWN;
        if (wc_version_compare(own.low, floor) >= 0)
            return WC_FITS;
        return wc_version_compare(own.high, floor) < 0 ? WC_TOO_OLD : WC_FIT_UNKNOWN;
    case WC_demand_kind_SYMBOL_VERSION:
    case WC_demand_kind_NEEDED:
        if (wc_major_wanted(r) < 0 || !wc_version_known(own.low) || own.low.major != own.high.major)
            return WC_FIT_UNKNOWN;
        return own.low.major == wc_major_wanted(r) ? WC_FITS : WC_OTHER_MAJOR;
    default:
        return WC_FIT_UNKNOWN;
    }
}

bool wc_demand_refuses(const struct wc_demand_record *r, struct wc_version v) {
    struct wc_range exactly = wc_exactly(v);

    return wc_refuses(wc_demand_fit(r, exactly, exactly));
}

enum wc_fit wc_fit_of_release(const struct wc_stack *s, const struct wc_object *host,
                              const struct wc_object *library) {
    struct wc_range runtime = wc_runtime_of(s, library).range;
    enum wc_fit worst = WC_FIT_UNKNOWN;

    WC_EACH(demand, s->demands)
        if (host && wc_is_demand_by(demand, host) &&
            (demand->r.demand_kind == WC_demand_kind_BUILT ||
             demand->r.demand_kind == WC_demand_kind_REQUIRED)) {
            enum wc_fit fit = wc_demand_fit(&demand->r, runtime, runtime);
            worst = fit > worst ? fit : worst;
        }
    return worst;
}

/* ---- all demands of all hosts ---- */

/* False: nothing refuses this library. */
static bool judge(const struct wc_stack *s, struct wc_judgement *j) {
    struct wc_range own = wc_own_range(j->library);

    j->runtime = wc_runtime_of(s, j->library);
    j->by_symbols_alone = true;
    WC_EACH(b, s->bindings)
        if (wc_is_binding_of(b, j->host) &&
            __builtin_add_overflow(j->weight, wc_bound_functions(&b->r), &j->weight))
            j->weight = INT64_MAX;
    WC_EACH(demand, s->demands) {
        if (!wc_is_demand_by(demand, j->host))
            continue;
        if (demand->r.function_count > j->weight)
            j->weight = demand->r.function_count;
        enum wc_fit fit = wc_demand_fit(&demand->r, j->runtime.range, own);
        if (!wc_refuses(fit))
            continue;
        j->by_symbols_alone &= demand->r.demand_kind == WC_demand_kind_SYMBOLS;
        /* Another major is the strongest; enums.def lists the kinds of demand strongest first. */
        bool same = (fit == WC_OTHER_MAJOR) == (j->fit == WC_OTHER_MAJOR);
        if (!j->strongest ||
            (same ? demand->r.demand_kind < j->strongest->r.demand_kind : fit == WC_OTHER_MAJOR)) {
            j->strongest = demand;
            j->fit = fit;
            j->own_would_fit = wc_demand_fit(&demand->r, own, own) == WC_FITS;
        }
    }
    return j->strongest != NULL;
}

void wc_judge_all(struct wc_diagnosis *d) {
    WC_EACH(use, d->uses) {
        struct wc_judgement j = {.host = use->host, .library = use->library};
        if (!judge(d->s, &j))
            continue;
        if (!d->judged.p)
            d->judged.p = wc_arena_take(d->scratch, WC_FINDINGS_MOST * sizeof *d->judged.p);
        if (d->judged.p && d->judged.n < WC_FINDINGS_MOST)
            d->judged.p[d->judged.n++] = j;
        else
            d->out->lost++;
    }
    /* Two libraries of one wheel require the same by the same line of its metadata: the library
     * that uses more of cuDNN reports it for both. */
    for (size_t i = 0; i < d->judged.n; i++) {
        struct wc_judgement *b = &d->judged.p[i];
        for (size_t k = 0; k < i && !b->reported_elsewhere; k++) {
            struct wc_judgement *a = &d->judged.p[k];
            const struct wc_demand_record *x = &a->strongest->r, *y = &b->strongest->r;
            if (!a->reported_elsewhere && x->source && a->library == b->library &&
                a->fit == b->fit && x->demand_kind == y->demand_kind &&
                wc_str_same(x->spec, y->spec) && wc_str_same(x->built, y->built) &&
                wc_str_same(x->source, y->source) && wc_str_same(x->source_path, y->source_path))
                *(a->weight >= b->weight ? &b->reported_elsewhere : &a->reported_elsewhere) = true;
        }
    }
}

bool wc_is_refused(const struct wc_diagnosis *d, const struct wc_object *host) {
    return WC_ANY(j, d->judged, j->host == host);
}

/* ---- which releases would suit several hosts? ---- */

/* Every rule and every set of versions changes its answer only at versions that follow from the
 * demand: what it names, and the beginnings of the next patch, minor and major. So each demand is
 * asked about each of these, and nothing has to know the rules again. The least one behind `after`
 * replaces *least. */
static void take_near(const char *text, struct wc_version after, struct wc_version *least) {
    struct wc_spec spec;

    if (!wc_spec_read(text, &spec))
        return;
    for (size_t i = 0; i < spec.n; i++) {
        const struct wc_version v = wc_version_filled(spec.clause[i].version, 0, 0);
        if (v.major > WC_MAJOR_MOST)
            continue;
        const struct wc_version near[] = {v,
                                          {v.major, v.minor, 0, -1},
                                          {v.major, 0, 0, -1},
                                          {v.major, v.minor, v.patch + 1, -1},
                                          {v.major, v.minor + 1, 0, -1},
                                          {v.major + 1, 0, 0, -1}};
        WC_EACH_ROW(one, near)
            if (wc_version_compare(*one, after) > 0 &&
                (!wc_version_known(*least) || wc_version_compare(*one, *least) < 0))
                *least = *one;
    }
}

bool wc_accepted_releases(const struct wc_demands *all, struct wc_version *low,
                          struct wc_version *high) {
    struct wc_version v = {0, 0, 0, -1}, least;

    *low = *high = WC_VERSION_NONE;
    for (;; v = least) {
        least = WC_VERSION_NONE;
        WC_EACH(demand, *all) {
            take_near((*demand)->spec, v, &least);
            take_near((*demand)->built, v, &least);
        }
        if (!wc_version_known(least))
            return wc_version_known(*low);
        bool good = !WC_ANY(demand, *all, wc_demand_refuses(*demand, least));
        if (good && !wc_version_known(*low))
            *low = least;
        if (!good && wc_version_known(*low)) {
            *high = least;
            return true;
        }
    }
}

bool wc_common_releases(const struct wc_stack *s, const struct wc_hosts *hosts,
                        struct wc_version *low, struct wc_version *high) {
    struct wc_demands all = {.n = 0};

    WC_EACH(demand, s->demands)
        if (all.n < WC_DEMANDS_MOST && WC_ANY(host, *hosts, wc_is_demand_by(demand, *host)))
            all.p[all.n++] = &demand->r;
    return wc_accepted_releases(&all, low, high);
}

/* 10.0.0 as "10", 9.8.0 as "9.8". */
static const char *format_short(struct wc_version v, char out[WC_VERSION_TEXT]) {
    if (v.patch == 0)
        v.patch = -1;
    if (v.patch < 0 && v.minor == 0)
        v.minor = -1;
    return wc_version_text(v, out);
}

const char *wc_format_releases(struct wc_arena *memory, struct wc_version low,
                               struct wc_version high) {
    char first[WC_VERSION_TEXT], end[WC_VERSION_TEXT];

    return wc_arena_format(memory, ">=%s%s%s", format_short(low, first),
                           wc_version_known(high) ? ",<" : "", format_short(high, end));
}

/* ---- demands in words ---- */

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
                         spec ?: (whole ? r->built : "?"));
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
