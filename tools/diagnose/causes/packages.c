/* SPDX-License-Identifier: Apache-2.0 */
/*
 * installation-incomplete, installation-mixed: the packages of cuDNN around the hosts against their
 * own lists of files, as package records say it, and against what the mapped files say about
 * themselves. Reported only of packages that this process had to do with.
 */
#include "core/demand/finding.h"
#include "tools/diagnose/wheels.h"

enum { NAMED = 8, PACKAGES_MOST = 16 };

static bool belongs_to(const struct wc_object *o, const struct wc_package_record *p) {
    return wc_is_cudnn(o) && o->r.installation_path && p->installation_path &&
           wc_str_same(o->r.installation_path, p->installation_path);
}

/* A mapped file of it, its facade if that is mapped; NULL: none. */
static const struct wc_object *mapped_of(const struct wc_stack *s,
                                         const struct wc_package_record *p) {
    const struct wc_object *found = NULL;

    WC_EACH(o, s->objects)
        if (o->r.mapped && belongs_to(o, p) && (!found || found->r.role != WC_role_FACADE))
            found = o;
    return found;
}

static const char *format_package(struct wc_case *c, const struct wc_package_record *p) {
    return wc_format(c, p->package_version ? "%s %s" : "%s%s", wc_format_name(c, p->package),
                     p->package_version ? wc_format_name(c, p->package_version) : "");
}

static void name_files(struct wc_case *c, enum wc_fact_role what, const struct wc_strings *files,
                       const char *source) {
    for (size_t i = 0; i < files->n && i < NAMED; i++)
        wc_case_fact_from(c, what, files->p[i], source);
    if (files->n > NAMED)
        wc_case_fact_from(c, what, wc_format(c, "and %zu more", files->n - NAMED), source);
}

static void package_facts(struct wc_case *c, const struct wc_package_record *p) {
    const struct wc_object *o = mapped_of(c->d->s, p);
    const char *kind = wc_enum_word(WC_ENUM_installation_kind, p->installation_kind);

    if (o)
        c->r.object = o->r.object;
    wc_case_fact_from(c, WC_FACT_PACKAGE,
                      wc_format(c, "%s%s%s%s%s%s", format_package(c, p), kind ? " (" : "", kind,
                                kind ? ")" : "", p->prefix ? " in " : "", p->prefix),
                      p->list);
}

/* A scan of packages next to which no host is; or all that is known of a program that failed. */
static bool is_alone(const struct wc_stack *s) {
    return s->replayed ? !WC_ANY(o, s->objects, wc_wants_cudnn(o))
                       : !s->objects.n && wc_ended_badly(s);
}

/* ---- installation-incomplete ---- */

/* libcudnn_graph.so.9.1.0 and libcudnn_graph.so are answered by libcudnn_graph.so.9. */
static bool would_answer(const char *file, const char *asked) {
    return wc_name_is_cudnn(asked) && wc_same_library(file, asked, true);
}

/* The load that failed for lack of one of the package's files. */
static const struct wc_failure *failed_for(const struct wc_stack *s,
                                           const struct wc_package_record *p) {
    return WC_FIRST(
        f, s->failures,
        wc_is_load(f) && wc_missing_of(f) &&
            WC_ANY(file, p->missing,
                   would_answer(*file, wc_missing_of(f)) &&
                       !WC_ANY(o, s->objects,
                               wc_is_cudnn(o) && would_answer(*file, wc_real_path_of(o)))));
}

/* A library of another installation that took the place of a missing one: a part of another
 * release, or a facade with which the process failed. */
static bool stands_in(const struct wc_stack *s, const struct wc_object *o,
                      const struct wc_package_record *p) {
    const struct wc_object *facade = wc_facade_of(s, o);

    return o->r.mapped && wc_is_cudnn(o) && !belongs_to(o, p) &&
           WC_ANY(missing, p->missing, would_answer(*missing, wc_real_path_of(o))) &&
           (facade == o
                ? wc_ended_badly(s)
                : belongs_to(facade, p) && !wc_ranges_meet(wc_own_range(o), wc_own_range(facade)));
}

void wc_find_installation_incomplete(struct wc_diagnosis *d) {
    for (size_t i = 0; i < d->s->packages.n && i < PACKAGES_MOST; i++) {
        const struct wc_package_record *p = &d->s->packages.p[i].r;
        const struct wc_failure *f = failed_for(d->s, p);
        size_t n = p->prefix ? wc_str_length(p->prefix) : 0;
        bool has_host =
            n > 1 && WC_ANY(o, d->s->objects,
                            wc_wants_cudnn(o) && wc_is_below(wc_real_path_of(o), p->prefix, n));
        if (!p->missing.n || !(f || has_host || is_alone(d->s) || mapped_of(d->s, p)))
            continue;
        const struct wc_object *instead = WC_FIRST(o, d->s->objects, stands_in(d->s, o, p));
        struct wc_case *c = wc_case_begin(d, NULL, NULL);
        const char *package = format_package(c, p);
        const char *of = wc_name_is_cudnn(p->missing.p[0]) ? "cuDNN " : "";

        c->on_disk = true;
        if (!f && !instead)
            c->effect = WC_EFFECT_DOUBTED; /* nothing has failed for lack of it, by luck */
        if (p->missing_count == p->file_count)
            c->r.title = wc_format(
                c, "%s is listed as installed, but all of its %jd %slibraries are missing", package,
                p->file_count, of);
        else
            c->r.title =
                wc_format(c,
                          p->missing_count == 1 ? "%jd of the %jd %slibraries of %s is missing"
                                                : "%jd of the %jd %slibraries of %s are missing",
                          p->missing_count, p->file_count, of, package);
        package_facts(c, p);
        name_files(c, WC_FACT_MISSING, &p->missing, "list of the package");
        if (f)
            wc_case_request(c, f);
        wc_case_library(c, WC_FACT_IN_THE_PLACE_OF_A_MISSING_ONE, instead);
        if (p->installation_kind == WC_installation_kind_WHEEL)
            wc_case_fact(c, WC_FACT_MIND,
                         "pip believes that it is installed: a plain pip install changes nothing");
        wc_case_end(c);
    }
}

/* ---- installation-mixed ---- */

/* A mapped file of the package that states that it is of another release. */
static const struct wc_object *disagrees(const struct wc_stack *s,
                                         const struct wc_package_record *p) {
    struct wc_version stated = wheel_version(p->package_version ?: "");

    stated.build = -1;
    return WC_FIRST(o, s->objects,
                    (o->r.version_source == WC_version_source_DATA_SYMBOL ||
                     o->r.version_source == WC_version_source_ASKED_NAMES) &&
                        o->r.mapped && belongs_to(o, p) &&
                        wc_str_same(o->r.installation, p->package) && stated.patch >= 0 &&
                        o->version.patch >= 0 && wc_version_compare(o->version, stated) != 0);
}

/* Do the mapped files of the package's directory differ among themselves? */
static bool is_torn(const struct wc_stack *s, const struct wc_package_record *p) {
    const struct wc_object *first = NULL;

    WC_EACH(o, s->objects) {
        if (!o->r.mapped || !belongs_to(o, p) || wc_major_of(o) < 0)
            continue;
        if (!first || wc_major_of(first) != wc_major_of(o))
            first = o;
        else if (!wc_ranges_meet(wc_seen_range(first), wc_seen_range(o)))
            return true;
    }
    return false;
}

/* Of two that own the same files: what a host requires, else that whose files are there. */
static int64_t worth(const struct wc_stack *s, const struct wc_package_record *p) {
    bool wanted = p->package && WC_ANY(d, s->demands, wc_str_same(d->r.package, p->package));

    return (wanted ? 1000 : 0) - (int64_t)p->changed.n - (int64_t)p->missing.n;
}

/* Is that they share files reported of another of them? */
static bool is_told_of_another(const struct wc_stack *s, const struct wc_package_record *p) {
    WC_EACH(name, p->shared_with) {
        /* "nvidia-cudnn-cu12" is the name of "nvidia-cudnn-cu12 9.1.0.70". */
        const char *end = *name ? wc_str_find_char(*name, ' ') : NULL;
        const size_t n = end ? (size_t)(end - *name) : wc_str_length(*name ?: "");
        const struct wc_package *other =
            WC_FIRST(o, s->packages,
                     n && o->r.package && wc_str_length(o->r.package) == n &&
                         wc_str_starts(*name, o->r.package) && wc_str_same(o->r.prefix, p->prefix));
        int64_t more = other ? worth(s, &other->r) - worth(s, p) : -1;
        if (more > 0 || (more == 0 && &other->r < p))
            return true;
    }
    return false;
}

static void report_mixed(struct wc_diagnosis *d, const struct wc_package_record *p,
                         const struct wc_object *o) {
    struct wc_case *c = wc_case_begin(d, NULL, NULL);
    const char *package = format_package(c, p);

    c->on_disk = true;
    /* cuDNN compares its libraries by itself, also those that show no other their release. */
    if (is_torn(d->s, p)
            ? !p->shared_with.n
            : !WC_ANY(call, d->s->calls,
                      wc_sort_of_call(d->s, &call->r) == WC_STATUS_VERSIONS_DIFFER &&
                          belongs_to(wc_object_of(d->s, call->r.target, call->r.target_path), p)))
        c->effect = WC_EFFECT_DOUBTED;
    const struct wc_demand *demand =
        WC_FIRST(one, d->s->demands, p->shared_with.n && wc_str_same(one->r.package, p->package));

    if (p->shared_with.n)
        c->r.title = wc_format(c, "%s and %s are installed into the same files", package,
                               wc_format_name(c, p->shared_with.p[0]));
    else if (p->changed.n)
        c->r.title = wc_format(
            c,
            p->changed.n == 1 ? "%zu of the %jd cuDNN libraries of %s is not the installed file"
                              : "%zu of the %jd cuDNN libraries of %s are not the installed files",
            p->changed.n, p->file_count, package);
    else if (o)
        c->r.title = wc_format(c, "%s of %s is cuDNN %s", wc_format_name(c, wc_name_of(o)), package,
                               wc_format_own(c, o));
    else
        c->r.title = wc_format(c, "next to the files of %s is %s, which no package installed",
                               package, wc_format_name(c, p->foreign.p[0]));
    package_facts(c, p);
    name_files(c, WC_FACT_SHARED_WITH, &p->shared_with, "list of that package");
    if (demand) { /* another release of it may require the other package */
        c->r.host = demand->r.host;
        wc_case_demand(c, WC_FACT_WANTS, &demand->r);
    }
    name_files(c, WC_FACT_OTHER_SIZE_THAN_LISTED, &p->changed, "list of the package");
    name_files(c, WC_FACT_ON_NO_LIST, &p->foreign, "directory of the package");
    wc_case_library(c, WC_FACT_SAYS_ANOTHER_VERSION, o);
    wc_case_end(c);
}

void wc_find_installation_mixed(struct wc_diagnosis *d) {
    for (size_t i = 0; i < d->s->packages.n && i < PACKAGES_MOST; i++) {
        const struct wc_package_record *p = &d->s->packages.p[i].r;
        /* That the mapped ones differ among themselves is reported as such. */
        const struct wc_object *o = is_torn(d->s, p) ? NULL : disagrees(d->s, p);
        const bool mapped = mapped_of(d->s, p) != NULL;
        if (!is_told_of_another(d->s, p) && (mapped || is_alone(d->s)) &&
            (o || p->shared_with.n || p->changed.n ||
             (p->foreign.n && (mapped || !d->s->replayed))))
            report_mixed(d, p, o);
    }
}
