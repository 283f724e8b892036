/* SPDX-License-Identifier: Apache-2.0 */
/*
 * major-differs, runtime-too-old, runtime-too-new: a host refuses the cuDNN that it got, by its
 * framework's rule, its package's requirement, its functions or its symbol version
 * (core/demand/shared/judge.c decides, core/knowledge/rules.def has the rules). And
 * expectation-not-met: WHICHCUDNN_EXPECT says what should be in use, and something else is.
 */
#include "finding.h"

static void demands_of(struct wc_case *c, const struct wc_judgement *j, bool refused) {
    struct wc_range runtime = j->runtime.range;

    WC_EACH(demand, c->d->s->demands) {
        const struct wc_demand_record *r = &demand->r;
        if (!wc_is_demand_by(demand, j->host))
            continue;
        /* What the finding is about counts as it is reported. */
        enum wc_fit fit =
            demand == j->strongest ? j->fit : wc_demand_fit(r, runtime, wc_own_range(j->library));
        const char *rule = NULL;
        enum wc_rule known = wc_rule_from_name(r->compatibility_rule);
        if (wc_refuses(fit) != refused)
            continue;
        if (r->compatibility_rule)
            rule = wc_format(c, "rule %s", wc_format_name(c, r->compatibility_rule));
        wc_case_demand(c,
                       fit == WC_FITS          ? WC_FACT_SATISFIED
                       : fit == WC_FIT_UNKNOWN ? WC_FACT_UNDECIDED
                                               : WC_FACT_WANTED,
                       r);
        if (fit == WC_FIT_UNKNOWN)
            continue;
        struct wc_version built = wc_version_of(r->built);
        if (r->demand_kind == WC_demand_kind_BUILT && runtime.exact && built.patch >= 0) {
            /* The numbers that the check compares, as it would print them. */
            const bool compatibility = known == WC_RULE_TENSORFLOW_COMPATIBILITY;
            wc_case_fact_from(
                c, WC_FACT_NUMBERS,
                compatibility
                    ? wc_format(c, "runtime %ju (compatibility %ju), built %ju (compatibility %ju)",
                                wc_version_to_number(runtime.low),
                                wc_compatibility_number(runtime.low), wc_version_to_number(built),
                                wc_compatibility_number(built))
                    : wc_format(c, "runtime %ju, built %ju", wc_version_to_number(runtime.low),
                                wc_version_to_number(built)),
                rule);
        }
        /* No rule judges a range in metadata; what was built with, or pinned, is. */
        if (known != WC_RULE_NONE && !j->by_pin_alone &&
            (r->demand_kind == WC_demand_kind_BUILT || wc_spec_pins(r->spec, NULL)))
            wc_case_fact_from(c, WC_FACT_CHECK,
                              wc_format(c, fit == WC_FITS ? "accepted: %s" : "refused: %s",
                                        wc_rule_explanation(known)),
                              rule);
    }
}

/* What may be installed by one source, and is refused by another: PaddlePaddle 3.3.1 was compiled
 * with 9.9 and pins 9.5.1, conda's ranges begin below what was built with. */
static void contradiction(struct wc_case *c, const struct wc_demand_record *allows,
                          const struct wc_demand_record *refuses) {
    struct wc_version floor = wc_text_floor(allows->spec);

    floor.build = -1;
    if (allows->demand_kind == WC_demand_kind_REQUIRED &&
        refuses->demand_kind == WC_demand_kind_BUILT && wc_version_known(floor) &&
        wc_demand_refuses(refuses, floor))
        wc_case_fact_from(
            c, WC_FACT_SOURCES_DISAGREE,
            wc_format(c, "%s, and %s, which refuses %s", wc_format_demand(c, allows, true),
                      wc_format_demand(c, refuses, true), wc_format_version(c, floor)),
            wc_format(c, "%s; %s", allows->source ? allows->source : "?",
                      refuses->source ? refuses->source : "?"));
}

static void got(struct wc_case *c, const struct wc_judgement *j) {
    const struct wc_stack *s = c->d->s;
    const struct wc_object *decider = j->runtime.decided_by;
    const char *part = wc_answering_part(wc_major_of(j->library));

    wc_case_library(c, WC_FACT_GOT, j->library);
    if (!decider)
        wc_case_runtime(c, &j->runtime);
    else if (decider != j->library)
        wc_case_fact_from(c, WC_FACT_RUNTIME_VERSION, wc_format_range(c, j->runtime.range),
                          wc_format(c, "%s of %s", j->runtime.range.source, wc_path_of(decider)));
    if (c->r.predicted && part)
        wc_case_fact(
            c, WC_FACT_PREDICTED,
            wc_format(c,
                      "this is the facade's own version; cudnnGetVersion will say that of the %s "
                      "part, once it is loaded",
                      part));
    wc_case_fact(c, WC_FACT_HOST, wc_path_of(j->host));
    /* It never searched: another one had loaded a library of that name. */
    wc_case_own_search(c,
                       WC_FIRST(f, s->searches,
                                f->r.rule == WC_search_rule_LOADED && f->r.takes &&
                                    f->r.object != WC_NULL && f->r.object == j->library->r.object &&
                                    wc_means(j->host, f->r.caller_object, f->r.caller)));
    demands_of(c, j, true);
    demands_of(c, j, false);
    WC_EACH(allows, s->demands)
        if (wc_is_demand_by(allows, j->host))
            WC_EACH(refuses, s->demands)
                if (wc_is_demand_by(refuses, j->host))
                    contradiction(c, &allows->r, &refuses->r);
    WC_EACH(o, c->d->judged)
        if (o->reported_elsewhere && o->library == j->library && o->fit == j->fit &&
            wc_str_same(o->strongest->r.source, j->strongest->r.source))
            wc_case_fact_from(c, WC_FACT_ALSO_WANTED_BY, wc_path_of(o->host),
                              o->strongest->r.source);
}

/* What suits the others that use the same library, too, where what the host itself takes first does
 * not. */
static void common_fact(struct wc_case *c, const struct wc_judgement *j) {
    const struct wc_demand_record *r = &j->strongest->r;
    struct wc_version low, high, floor = wc_version_of(r->built);
    struct wc_hosts users = {.n = 0};

    if (r->demand_kind == WC_demand_kind_SYMBOL_VERSION || r->demand_kind == WC_demand_kind_NEEDED)
        floor = (struct wc_version){wc_major_wanted(r), -1, -1, -1};
    else if (r->demand_kind != WC_demand_kind_BUILT || !wc_version_known(floor))
        floor = wc_text_floor(r->spec);

    WC_EACH(use, c->d->uses)
        if (use->library == j->library && users.n < sizeof users.p / sizeof *users.p)
            users.p[users.n++] = use->host;
    floor.build = -1;
    if (users.n > 1 && wc_version_known(floor) &&
        wc_common_releases(c->d->s, &users, &low, &high) && wc_version_compare(low, floor) > 0)
        wc_case_fact(c, WC_FACT_SUITS_ALL_HOSTS_OF_IT,
                     wc_format_releases(c->d->scratch, low, high));
}

/* The host says a word about it and goes on, and NVIDIA promises that it works. */
static bool is_harmless(const struct wc_judgement *j) {
    const struct wc_demand_record *r = &j->strongest->r;
    struct wc_version built = wc_version_of(r->built), pin;

    if (!wc_version_known(built) && wc_spec_pins(r->spec, &pin))
        built = pin;
    return wc_rule_only_warns(wc_rule_for(r)) && wc_version_known(built) &&
           wc_rule_check(WC_RULE_NVIDIA, built, j->runtime.range.low) == WC_FITS &&
           wc_rule_check(WC_RULE_NVIDIA, built, j->runtime.range.high) == WC_FITS;
}

static void emit(struct wc_diagnosis *d, const struct wc_judgement *j) {
    const struct wc_demand_record *r = &j->strongest->r;
    struct wc_case *c = wc_case_begin(d, j->library, j->host);

    c->r.title = wc_format(c, "%s got cuDNN %s, %s", wc_format_who(c, j->host),
                           wc_format_range(c, j->runtime.range), wc_format_demand(c, r, false));
    if (is_harmless(j) || j->by_pin_alone)
        c->effect = wc_ended_well(d->s) ? WC_EFFECT_NONE : WC_EFFECT_DOUBTED;
    c->r.predicted = j->runtime.predicted && j->fit != WC_OTHER_MAJOR;
    if (j->own_would_fit)
        c->r.explained_by =
            wc_found_before(d, c->r.object, "facade-and-parts-differ", "parts-differ", NULL);
    if (!c->r.explained_by)
        c->r.explained_by = wc_found_before(d, c->r.object, "wrong-name", NULL);
    got(c, j);
    if (j->by_pin_alone)
        wc_case_fact(
            c, WC_FACT_MIND,
            "this host names a single release, and its process gave up; by NVIDIA's promise "
            "a newer one would do");
    common_fact(c, j);
    wc_case_end(c);
}

static void emit_all(struct wc_diagnosis *d, enum wc_fit fit) {
    WC_EACH(j, d->judged) {
        /* missing-symbols says it better, function by function */
        bool by_functions = j->by_symbols_alone && j->strongest->r.newest_functions.n > 0;
        if (j->fit == fit && !j->reported_elsewhere && !by_functions)
            emit(d, j);
    }
}

/* ---- a single release, by a package whose check is not known ---- */

/* Another release was loaded, of which NVIDIA promises that it works. */
static bool unmet_pin(const struct wc_stack *s, const struct wc_use *use,
                      const struct wc_demand *demand, struct wc_judgement *out) {
    struct wc_version pin;

    if (demand->r.demand_kind != WC_demand_kind_REQUIRED || demand->r.framework ||
        wc_rule_for(&demand->r) != WC_RULE_NVIDIA || !wc_is_demand_by(demand, use->host) ||
        !wc_spec_pins(demand->r.spec, &pin))
        return false;
    *out = (struct wc_judgement){.host = use->host,
                                 .library = use->library,
                                 .strongest = demand,
                                 .runtime = wc_runtime_of(s, use->library),
                                 .by_pin_alone = true};
    if (!out->runtime.range.exact || out->runtime.range.low.major != pin.major)
        return false;
    pin.build = out->runtime.range.low.build = -1;
    int order = wc_version_compare(out->runtime.range.low, pin);
    out->fit = order > 0 ? WC_TOO_NEW : WC_TOO_OLD;
    return order != 0 && pin.patch >= 0;
}

static void emit_unmet_pins(struct wc_diagnosis *d, enum wc_fit fit) {
    struct wc_judgement j;

    if (!(wc_ended_badly(d->s) ? wc_failed_itself(d->s) : wc_turned_away(d->s, true)) ||
        wc_has_error(d))
        return;
    WC_EACH(use, d->uses)
        WC_EACH(demand, d->s->demands)
            if (unmet_pin(d->s, use, demand, &j) && j.fit == fit && !wc_is_refused(d, use->host)) {
                emit(d, &j);
                return; /* of the others it is the same line of a package */
            }
}

/* ---- an older file than the header next to it ---- */

static bool may_want_header(const struct wc_stack *s, const struct wc_use *use) {
    struct wc_version is = wc_runtime_of(s, use->library).range.high;

    return use->library->r.header_version && wc_version_known(is) &&
           wc_version_compare(is, wc_version_of(use->library->r.header_version)) < 0 &&
           wc_fit_of_release(s, use->host, use->library) == WC_FIT_UNKNOWN;
}

/* A newer one was laid over an older, and the name still points to that: what was compiled there is
 * refused, or refuses, and nothing else says so. A host linked with it was compiled there. */
static void emit_older_than_header(struct wc_diagnosis *d) {
    if (!wc_failed_itself(d->s) || wc_has_error(d))
        return;
    const struct wc_use *use = WC_FIRST(
        u, d->uses,
        may_want_header(d->s, u) && wc_demand_of(d->s, wc_path_of(u->host), WC_demand_kind_NEEDED));
    if (!use)
        use = WC_FIRST(u, d->uses, may_want_header(d->s, u));
    if (!use)
        return;
    struct wc_runtime runtime = wc_runtime_of(d->s, use->library);
    struct wc_case *c = wc_case_begin(d, use->library, use->host);
    c->effect = WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c, "%s got cuDNN %s, but the header next to it is of %s",
                           wc_format_who(c, use->host), wc_format_range(c, runtime.range),
                           use->library->r.header_version);
    wc_case_library(c, WC_FACT_GOT, use->library);
    wc_case_fact(c, WC_FACT_HOST, wc_path_of(use->host));
    wc_case_fact(c, WC_FACT_MIND, "a program compiled with that header requires no older release");
    wc_case_end(c);
}

void wc_find_major_differs(struct wc_diagnosis *d) {
    emit_all(d, WC_OTHER_MAJOR);
}

void wc_find_runtime_too_old(struct wc_diagnosis *d) {
    emit_all(d, WC_TOO_OLD);
    emit_unmet_pins(d, WC_TOO_OLD);
    emit_older_than_header(d);
}

void wc_find_runtime_too_new(struct wc_diagnosis *d) {
    emit_all(d, WC_TOO_NEW);
    emit_unmet_pins(d, WC_TOO_NEW);
}

/* ---- expectation-not-met ---- */

void wc_find_expectation_not_met(struct wc_diagnosis *d) {
    struct wc_spec spec;

    WC_EACH(demand, d->s->demands) {
        const struct wc_demand_record *r = &demand->r;
        const bool understood = r->built || (wc_spec_read(r->spec, &spec) && spec.n);
        if (r->demand_kind != WC_demand_kind_EXPECTATION || (!r->spec && !r->built))
            continue;
        if (!understood) {
            struct wc_case *c = wc_case_begin(d, NULL, NULL);
            c->effect = WC_EFFECT_DOUBTED;
            c->on_disk = true;
            c->r.title =
                wc_format(c, "WHICHCUDNN_EXPECT is not a version, not compared: %s", r->spec);
            wc_case_fact_from(c, WC_FACT_EXPECTED, r->spec, r->source);
            wc_case_fact(
                c, WC_FACT_MIND,
                "write it as 9.1 (every 9.1.x), '>=9.8,<10' or 90800, as cudnnGetVersion says");
            wc_case_end(c);
        }
        WC_EACH(o, d->s->objects) {
            if (!understood || o->r.role != WC_role_FACADE)
                continue;
            const struct wc_runtime runtime = wc_runtime_of(d->s, o);
            if (!wc_refuses(wc_demand_fit(r, runtime.range, runtime.range)))
                continue;
            struct wc_case *c = wc_case_begin(d, o, NULL);
            const char *expected = r->spec ?: wc_format(c, "%s or what goes with it", r->built);
            c->r.title =
                wc_format(c, "%s is cuDNN %s, expected was %s", wc_format_name(c, wc_name_of(o)),
                          wc_format_range(c, runtime.range), expected);
            c->r.predicted = runtime.predicted;
            c->r.explained_by =
                wc_found_before(d, o->r.object, "facade-and-parts-differ", "parts-differ", NULL);
            wc_case_library(c, WC_FACT_GOT, o);
            wc_case_runtime(c, &runtime);
            wc_case_fact_from(c, WC_FACT_EXPECTED, expected, r->source ?: "WHICHCUDNN_EXPECT");
            if (r->built)
                wc_case_fact_from(c, WC_FACT_CHECK, wc_rule_explanation(wc_rule_for(r)),
                                  wc_format(c, "rule %s", wc_rule_name(wc_rule_for(r))));
            wc_case_end(c);
        }
    }
}
