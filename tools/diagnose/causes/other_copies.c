/* SPDX-License-Identifier: Apache-2.0 */
/*
 * already-loaded-by-soname, own-copy-unused, shadowed-copy: a cuDNN was loaded, and another one is
 * there. Where a host refuses what it got, that finding reports it.
 */
#include "core/demand/finding.h"
#include "core/knowledge/programs.h"

static bool has_failed(const struct wc_stack *s) {
    return wc_ended_badly(s) || wc_a_call_failed(s);
}

/* ---- already-loaded-by-soname ---- */

/* What a host asked for was never searched for, since a library of that name was there. Its own
 * search would have found another file. */

/* It works by more than luck: by the versions that the host's package accepts, else
 * by what its own copy is: the same release, or an older one of the same major, as NVIDIA promises.
 */
static bool serves(const struct wc_stack *s, const struct wc_object *host,
                   const struct wc_object *o, const struct wc_candidate *own) {
    struct wc_range runtime = wc_runtime_of(s, o).range;
    enum wc_fit fit = wc_fit_of_release(s, host, o);

    if (fit != WC_FIT_UNKNOWN)
        return fit == WC_FITS;
    return own && wc_version_known(own->version) && runtime.exact &&
           (wc_version_compare(runtime.low, own->version) == 0 ||
            wc_rule_check(WC_RULE_NVIDIA, own->version, runtime.low) == WC_FITS);
}

void wc_find_already_loaded_by_soname(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->searches) {
        const struct wc_object *o = wc_stack_object(d->s, f->r.object);
        const struct wc_object *host = wc_object_of(d->s, f->r.caller_object, f->r.caller);
        const struct wc_candidate *own = wc_candidate_of(d->s, f, f->r.takes);
        if (!o || o->r.role != WC_role_FACADE || f->r.rule != WC_search_rule_LOADED || !f->r.takes)
            continue;
        struct wc_case *c = wc_case_begin(d, o, host);
        /* It has an effect where the process asked for the version, and failed before it used
         * cuDNN, for nothing else that is known. */
        if (serves(d->s, host, o, own))
            c->effect = WC_EFFECT_NONE;
        else if (wc_has_error(d) || !wc_failed_itself(d->s) || !wc_turned_away(d->s, true))
            c->effect = wc_brought_by(d->s, o, f->r.caller_object, f->r.caller) ? WC_EFFECT_NONE
                                                                                : WC_EFFECT_DOUBTED;
        c->r.title =
            wc_format(c, "%s got the %s that was already loaded, %s; its own search finds %s",
                      host ? wc_format_who(c, host) : wc_format_name(c, f->r.caller),
                      wc_format_name(c, f->r.name), wc_format_own(c, o),
                      own && own->r.version ? own->r.version : "another file");
        wc_case_library(c, WC_FACT_GOT, o);
        wc_case_fact(c, WC_FACT_HOST, f->r.caller);
        wc_case_own_search(c, f);
        wc_case_end(c);
    }
}

/* ---- own-copy-unused ---- */

/* The requester's environment has a cuDNN, and another was loaded, since no search leads into the
 * environment. A name without a number may point to any major. */

/* May that package have what was asked for by this name? */
static bool answers(const struct wc_package_record *p, const char *asked, struct wc_range got) {
    struct wc_version v = wc_version_of(p->package_version);

    if (!wc_version_known(v) || !wc_version_known(got.low))
        return false;
    return v.major == got.low.major ? v.minor != got.low.minor || v.patch != got.low.patch
                                    : wc_name_read(asked).version.major < 0;
}

static const struct wc_package_record *own_of(const struct wc_stack *s, const char *asker,
                                              const struct wc_object *o) {
    struct wc_range own = wc_own_range(o);
    const struct wc_package *found =
        WC_FIRST(p, s->packages,
                 wc_is_of_environment(p->r.installation_kind) &&
                     p->r.package_state == WC_package_state_COMPLETE && p->r.prefix &&
                     !wc_is_below(wc_real_path_of(o), p->r.prefix, wc_str_length(p->r.prefix)) &&
                     (wc_is_below(asker, p->r.prefix, wc_str_length(p->r.prefix)) ||
                      wc_program_is(asker, WC_PROGRAM_PYTHON | WC_PROGRAM_LIBRARY)) &&
                     answers(&p->r, o->r.asked_name, own));

    return found ? &found->r : NULL;
}

static void look(struct wc_diagnosis *d, const struct wc_object *o) {
    const struct wc_searched *f = wc_search_of(d->s, o);
    const struct wc_object *host = wc_object_of(d->s, o->r.asked_by_object, o->r.asked_by);
    /* A path, a preload and a host's own search path name one file. */
    const bool by_chance =
        f && (f->r.rule == WC_search_rule_CACHE || f->r.rule == WC_search_rule_DEFAULT ||
              f->r.rule == WC_search_rule_LIBRARY_PATH);
    const struct wc_package_record *p =
        by_chance && o->r.asked_name && !wc_str_find_char(o->r.asked_name, '/')
            ? own_of(d->s, o->r.asked_by, o)
            : NULL;

    if (!p || wc_fit_of_release(d->s, host, o) == WC_FITS ||
        wc_found_before(d, o->r.object, "major-differs", "runtime-too-old", "runtime-too-new",
                        "missing-symbols", "expectation-not-met", NULL))
        return;
    struct wc_case *c = wc_case_begin(d, o, NULL);
    const char *directory = wc_format(
        c, "%s/lib",
        p->installation_kind == WC_installation_kind_CONDA ? p->prefix : p->installation_path);
    if (wc_version_of(p->package_version).major == wc_own_range(o).low.major &&
        (wc_has_error(d) || !has_failed(d->s)))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c, "%s asked for %s and got %s; its environment has %s",
                           wc_format_name(c, o->r.asked_by), wc_format_name(c, o->r.asked_name),
                           wc_format_range(c, wc_runtime_of(d->s, o).range),
                           wc_format_name(c, p->package_version));
    wc_case_library(c, WC_FACT_GOT, o);
    wc_case_fact_at(c, WC_FACT_ITS_ENVIRONMENT_HAS, directory,
                    wc_format(c, "%s  %s %s", directory, p->package, p->package_version),
                    "package");
    if (wc_name_read(o->r.asked_name).version.major < 0)
        wc_case_fact(c, WC_FACT_NO_NUMBER, "a name without a number may be any major");
    wc_case_end(c);
}

void wc_find_own_copy_unused(struct wc_diagnosis *d) {
    wc_each_facade(d, true, look);
}

/* ---- shadowed-copy ---- */

/* One copy is before another of another release. LD_LIBRARY_PATH puts it there, or the host's own
 * search path, which has a package's copy behind: then to upgrade that package changes nothing. Or
 * the program failed, and the loader cache has an older one that was put there unmanaged, or the
 * host's RPATH one that LD_LIBRARY_PATH should have replaced. */

/* A program that was built with the newer one may give up, for a number that only it knows, or for
 * a call that the older one refuses (dlib#457). */
static bool may_be_why(const struct wc_diagnosis *d, const struct wc_object *o,
                       const struct wc_candidate *b) {
    struct wc_range got = wc_runtime_of(d->s, o).range;

    return wc_version_known(got.high) && wc_version_compare(got.high, b->version) < 0 &&
           (has_failed(d->s) || wc_turned_away(d->s, true)) &&
           !WC_ANY(r, *d->out,
                   r->severity == WC_severity_ERROR && !wc_fact_value(r, WC_FACT_STATUS));
}

/* Otherwise later copies in the system's directories do not matter. But where both are in
 * one search path of one object, and the second is of a package, a user may upgrade that, and
 * wonder. */
static const struct wc_candidate *shadowed(const struct wc_diagnosis *d, const struct wc_object *o,
                                           const struct wc_searched *f) {
    const struct wc_candidate *b = wc_candidate_of(d->s, f, NULL);

    if (!b || !wc_version_known(b->version))
        return NULL;
    bool package = wc_is_of_environment(b->r.installation_kind);
    bool one_path = f->r.of && wc_str_same(f->r.of, b->r.of);
    /* The system has a package for it, and an older file that is in no package comes first: no user
     * needs to hear of it while all is well. */
    bool left = f->r.rule == WC_search_rule_CACHE && !o->r.installation && b->r.installation &&
                wc_is_of_system(b->r.installation_kind);
    bool meant = one_path || left || (b->r.rule == WC_search_rule_LIBRARY_PATH && has_failed(d->s));
    if (f->r.rule != WC_search_rule_LIBRARY_PATH && !(one_path && package) &&
        !(meant && may_be_why(d, o, b)))
        return NULL;
    return wc_ranges_meet(wc_runtime_of(d->s, o).range, wc_exactly(b->version)) ? NULL : b;
}

void wc_find_shadowed_copy(struct wc_diagnosis *d) {
    WC_EACH(o, d->s->objects) {
        const struct wc_searched *f = wc_search_of(d->s, o);
        const struct wc_candidate *b = o->r.role == WC_role_FACADE ? shadowed(d, o, f) : NULL;
        if (!b || wc_found_before(d, o->r.object, "major-differs", "runtime-too-old",
                                  "runtime-too-new", "missing-symbols", NULL))
            continue;
        bool by_cache = f->r.rule == WC_search_rule_CACHE;
        bool of_host = !by_cache && f->r.rule != WC_search_rule_LIBRARY_PATH;
        const char *rule = wc_enum_word(WC_ENUM_search_rule, f->r.rule);
        struct wc_case *c = wc_case_begin(d, o, NULL);
        const char *version = wc_format_range(c, wc_runtime_of(d->s, o).range);
        /* A variable's copy is mostly meant, but not where the only process with cuDNN asked for
         * the version, and failed before it used it, for nothing else that is known. */
        if (by_cache || of_host ? !has_failed(d->s) || !may_be_why(d, o, b)
                                : wc_has_error(d) || d->s->beside || !wc_failed_itself(d->s) ||
                                      !wc_turned_away(d->s, true))
            c->effect = WC_EFFECT_DOUBTED;
        c->r.title =
            by_cache
                ? wc_format(c, "%s %s in %s, of no package, shadows %s of %s", wc_name_of(o),
                            version, wc_format_directory(c, wc_path_of(o)), b->r.version,
                            wc_format_name(c, b->r.installation))
                : wc_format(c, "%s %s of %s%s%s shadows %s in %s", wc_name_of(o), version, rule,
                            of_host ? " of " : "", of_host ? wc_format_name(c, f->r.of) : "",
                            b->r.version, wc_format_directory(c, b->r.path));
        wc_case_library(c, WC_FACT_GOT, o);
        if (of_host && b->r.installation)
            wc_case_fact(c, WC_FACT_MIND,
                         wc_format(c, "an upgrade of %s changes nothing for this process",
                                   wc_format_name(c, b->r.installation)));
        wc_case_end(c);
    }
}
