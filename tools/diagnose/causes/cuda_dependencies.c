/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda-major-differs, cuda-dependency-differs: the CUDA libraries next to cuDNN. A cuDNN of the
 * right release may be made for another CUDA than its host, or get its cuBLAS from elsewhere.
 */
#include <string.h>

#include "core/demand/finding.h"
#include "core/packages/identify.h"
#include "driver.h"

/* ---- cuda-major-differs ---- */

/* Did a request of cuDNN, or of a part that it requested, for one of its major fail? */
static bool is_vain(const struct wc_stack *s, const struct wc_failure *f, int32_t major) {
    return wc_is_load(f) && wc_name_cuda(wc_missing_of(f)) == major && wc_asked_by_cudnn(s, f);
}

static void cuda_dependency_facts(struct wc_case *c) {
    WC_EACH(o, c->d->s->objects)
        if (wc_cuda_of(o) > 0) {
            const char *installation = wc_format_installation(c, o);
            wc_case_named(
                c, o->r.part ?: "CUDA dependency",
                wc_format(c, "%s%s%s", wc_path_of(o), installation ? "  " : "", installation),
                "link map");
        }
}

/* host: made for another CUDA than the facade, or NULL: then the CUDA dependency `other` is. */
static void report_majors(struct wc_diagnosis *d, const struct wc_object *facade, int32_t made_for,
                          const struct wc_object *host, const struct wc_object *other) {
    const struct wc_object *own = WC_FIRST(o, d->s->objects, wc_cuda_of(o) == made_for);
    struct wc_cuda of_host = host ? wc_cuda_of_host(d->s, host) : (struct wc_cuda){.major = -1};
    int32_t cuda = host ? of_host.major : wc_cuda_of(other);
    struct wc_case *c = wc_case_begin(d, facade, host);

    /* Its own CUDA dependencies were loaded, too: works as long as both are found. A requirement
     * of another build is not one of the host's code. */
    if (of_host.required && wc_ended_well(d->s))
        c->effect = WC_EFFECT_NONE;
    else if ((own && host) || (of_host.required && !wc_ended_badly(d->s)))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c, "%s is made for CUDA %d, %s is of CUDA %d",
                           wc_format_name(c, wc_name_of(facade)), made_for,
                           wc_format_who(c, host ?: other), cuda);
    c->r.predicted = !own && !WC_ANY(f, d->s->failures, is_vain(d->s, f, made_for));
    wc_case_library(c, WC_FACT_CUDNN, facade);
    wc_case_cuda(c, facade);
    if (host)
        wc_case_fact_from(c, WC_FACT_HOST,
                          wc_format(c, "%s, CUDA %d: %s", wc_path_of(host), cuda, of_host.by),
                          of_host.source);
    cuda_dependency_facts(c);
    WC_EACH(f, d->s->failures)
        if (is_vain(d->s, f, made_for))
            wc_case_request(c, f);
    wc_case_end(c);
}

/* Two hosts of two CUDA majors may each have its own cuDNN: CUDA dependencies of another major
 * say nothing where the hosts of this one agree with it. */
static void compare_majors(struct wc_diagnosis *d, const struct wc_object *facade) {
    int32_t made_for = wc_cuda_of_set(d->s, facade).major;
    const struct wc_object *other = NULL;
    const struct wc_use *differs = NULL;
    bool agrees = false, own = false, taken = false;

    if (made_for <= 0)
        return;
    WC_EACH(use, d->uses) {
        const struct wc_cuda of_host = wc_cuda_of_host(d->s, use->host);
        int32_t cuda = of_host.major;
        if (wc_facade_of(d->s, use->library) != facade ||
            (of_host.required && wc_is_refused(d, use->host))) /* its release says more */
            continue;
        agrees = agrees || cuda == made_for;
        if (!differs && cuda > 0 && cuda != made_for)
            differs = use;
    }
    WC_EACH(o, d->s->objects) {
        int32_t cuda = wc_cuda_of(o);
        own = own || cuda == made_for;
        if (cuda <= 0 || cuda == made_for || taken)
            continue;
        const struct wc_searched *f = wc_search_of(d->s, o);
        taken = wc_a_call_failed(d->s) && f && /* by a name that says no major */
                wc_is_cudnn(wc_object_of(d->s, f->r.caller_object, NULL));
        if (!other || taken)
            other = o;
    }
    if (differs || taken || (other && !own && !agrees))
        report_majors(d, facade, made_for, differs ? differs->host : NULL, other);
}

void wc_find_cuda_major_differs(struct wc_diagnosis *d) {
    wc_each_facade(d, true, compare_majors);
}

/* ---- cuda-dependency-differs: missing ---- */

/* cuDNN looks for the compiler when it needs it, and continues without where it can. */
static bool is_optional(const char *part) {
    return wc_str_starts(part, "nvrtc");
}

static bool has_come(const struct wc_stack *s, const char *part) {
    return WC_ANY(o, s->objects,
                  o->r.role == WC_role_CUDA_DEPENDENCY && o->r.mapped &&
                      wc_str_same(o->r.part, part));
}

/* The process ended well without cuDNN and CUDA, though a GPU may be there: by a build for the
 * processor, say (world engine_sees_no_cuda_and_takes_the_processor). With a package of a
 * framework, the package decides. Without a framework, a name without a number is a probe. */
static bool host_went_without(const struct wc_stack *s, const struct wc_failure *f) {
    return wc_has_ended(s) && !wc_ended_badly(s) && !lacks_driver(s) && !hides_gpus(s) &&
           (wc_name_cuda(f->r.name) > 0 || WC_ANY(o, s->objects, o->r.framework)) &&
           !WC_ANY(o, s->objects,
                   wc_is_cudnn(o) ||
                       (o->r.framework && (o->r.gpu_library || o->r.installation_version)));
}

/* That of another CUDA is there, and the process failed. */
static bool is_of_other_cuda(const struct wc_stack *s, const struct wc_failure *f) {
    const int32_t cuda = wc_name_cuda(f->r.name);

    return cuda > 0 && f->r.operation != WC_operation_NEEDED &&
           !WC_ANY(o, s->objects, wc_cuda_of(o) == cuda) && f->fate == WC_FATE_LAST;
}

/* What was printed of it, and the end, say that it was a need, where a GPU may be (TensorFlow opens
 * all it needs, then continues without a GPU); of what profiles and compiles they do not. */
static bool was_felt_later(const struct wc_stack *s, const struct wc_failure *f, const char *part) {
    return f->fate == WC_FATE_WENT_ON && !wc_asked_by_cudnn(s, f) && wc_failed_itself(s) &&
           !is_optional(part) && !wc_str_same(part, "cupti") && !lacks_driver(s) &&
           !hides_gpus(s) && wc_is_printed(s, f->r.name);
}

/* Libraries that need what they request: cuDNN, or a library of CUDA. Others try what may be there,
 * in several releases: only where that was the last that one asked for was it a need. */
static bool is_needed(const struct wc_stack *s, const struct wc_failure *f, const char *part) {
    const struct wc_object *by = wc_caller_of(s, f), *root = by;

    for (int i = 0; root && i < 64 && root->r.asked_how == WC_operation_NEEDED; i++)
        root = wc_object_of(s, root->r.asked_by_object, root->r.asked_by);
    /* By the rules of the loader the program cannot start, for lack of what it or a preloaded
     * library needs. What was opened fails by itself. */
    const bool ends_start = s->replayed && (!root || root->r.asked_how != WC_operation_DLOPEN);
    if (f->r.operation == WC_operation_NEEDED && ((wc_ended_badly(s) && !s->calls.n) || ends_start))
        return true;             /* it ended in the loader: that of another CUDA does not serve */
    if (wc_asked_by_cudnn(s, f)) /* cuDNN 8 tries two names of the compiler, took the loader's words
                                    on the first for its own failure, and aborted (C18) */
        return !has_come(s, part) ||
               (is_optional(part) &&
                (wc_str_same(wc_crash_of(s), "SIGABRT") || wc_was_fatal(s, f)));
    if (has_come(s, part))
        return is_of_other_cuda(s, f);
    return (by ? by->r.role == WC_role_CUDA_DEPENDENCY
               : wc_name_kind_of(f->r.caller) == WC_NAME_CUDA_DEPENDENCY) ||
           f->fate >= WC_FATE_LAST || host_went_without(s, f) || was_felt_later(s, f, part);
}

/* A CUDA dependency that was asked for and was not found; part NULL: any. */
static bool is_missing(const struct wc_stack *s, const struct wc_failure *f, const char *part,
                       struct wc_name *n) {
    *n = wc_name_read(f->r.name);
    return n->kind == WC_NAME_CUDA_DEPENDENCY && (!part || wc_str_same(n->part, part)) &&
           wc_is_load(f) && (f->reason == WC_REASON_NOT_FOUND || f->reason == WC_REASON_UNKNOWN) &&
           is_needed(s, f, n->part);
}

/* ---- cuda-dependency-differs: from elsewhere ---- */

/* Where an installation of many packages begins: site-packages, the conda environment, the toolkit.
 * NULL: one library's own directory shows nothing. */
static struct wc_span home_of(const struct wc_object *o) {
    static const char system[] = "package manager", site[] = "/site-packages/";
    const enum wc_installation_kind kind = o->r.installation_kind;
    const char *file = kind == WC_installation_kind_WHEEL ? wc_real_path_of(o) : NULL;
    const char *in_site = file ? wc_behind_last(file, site) : NULL, *path = o->r.installation_path;

    if (file && !in_site)
        in_site = wc_behind_last(file, "/dist-packages/");
    if (in_site)
        return (struct wc_span){file, (size_t)(in_site - file) - strlen(site)};
    if (wc_is_of_system(kind))
        return (struct wc_span){system, strlen(system)};
    if (!wc_is_of_environment(kind) && kind != WC_installation_kind_CUDA_TOOLKIT)
        path = NULL;
    return (struct wc_span){path, path ? strlen(path) : 0};
}

static bool same_home(struct wc_span a, struct wc_span b) {
    return a.n == b.n && (a.p == b.p || (a.p && b.p && wc_mem_compare(a.p, b.p, a.n) == 0));
}

static bool is_below(const char *path, struct wc_span home) {
    return home.p && wc_is_below(path, home.p, home.n);
}

/* Is it a CUDA dependency of this CUDA major, or (0 or less) of any? */
static bool is_of_major(const struct wc_object *o, int32_t major) {
    return wc_cuda_of(o) > 0 && (major <= 0 || wc_cuda_of(o) == major);
}

/* The library whose installation the CUDA dependencies should be of. An environment has all that
 * its libraries need; a toolkit does too, unless one is named. */
static const struct wc_object *reference(const struct wc_diagnosis *d,
                                         const struct wc_object *facade, int32_t major) {
    const struct wc_object *own = WC_FIRST(
        o, d->s->objects, is_of_major(o, major) && wc_is_of_environment(o->r.installation_kind));
    const struct wc_object *first =
        WC_FIRST(o, d->s->objects, is_of_major(o, major) && home_of(o).p);
    bool host_lives_there = WC_ANY(use, d->uses,
                                   is_below(wc_real_path_of(use->host), home_of(facade)) &&
                                       wc_facade_of(d->s, use->library) == facade);
    return own                                                                     ? own
           : wc_is_of_environment(facade->r.installation_kind) && host_lives_there ? facade
                                                                                   : first;
}

/* The one is made for the other's very release. */
static bool is_of_pair(const struct wc_object *o) {
    return o->r.part && wc_str_starts(o->r.part, "cublas");
}

/* Is it of another installation, as far as that can be said? */
static bool is_foreign(const struct wc_stack *s, const struct wc_object *o,
                       const struct wc_object *of) {
    struct wc_span home = home_of(o);

    if (o->r.installation_kind == WC_installation_kind_BUNDLED)
        return wc_str_same(wc_crash_of(s), "SIGABRT") && is_of_pair(o); /* a function is missing */
    if (is_below(wc_real_path_of(o), home_of(of)))
        return false; /* a framework's own, under a name of its own; or of no package, but there */
    return home.p ? !same_home(home, home_of(of))
                  : wc_is_of_environment(of->r.installation_kind) && wc_in_search_path(s, o);
}

/* facade: or the library that asked for it. own: what the search would have found next, of the
 * environment itself, or next to what asked for it; NULL: nothing. */
static void report_foreign(struct wc_diagnosis *d, const struct wc_object *facade,
                           const struct wc_object *foreign, const struct wc_candidate *own) {
    const bool pair_is_torn =
        is_of_pair(foreign) && WC_ANY(o, d->s->objects,
                                      is_of_pair(o) && !wc_str_same(o->r.part, foreign->r.part) &&
                                          wc_cuda_of(o) == wc_cuda_of(foreign) &&
                                          o->r.installation_kind != WC_installation_kind_BUNDLED &&
                                          !same_home(home_of(o), home_of(foreign)));
    /* cuDNN in an environment and the rest in a toolkit may be intended if nothing fails. */
    bool meant = !own && !wc_crash_of(d->s) && !wc_a_call_failed(d->s) && !pair_is_torn;
    struct wc_case *c = wc_case_begin(d, facade, NULL);
    const char *directory = wc_directory_of(c, foreign);

    c->effect = meant ? WC_EFFECT_NONE : WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c, "%s, used by %s, comes from another installation: %s",
                           wc_format_name(c, wc_path_of(foreign)),
                           wc_format_name(c, wc_name_of(facade)), directory ?: "?");
    if (wc_is_cudnn(facade)) {
        wc_case_library(c, WC_FACT_CUDNN, facade);
        wc_case_cuda(c, facade);
    }
    cuda_dependency_facts(c);
    wc_case_variable(c, "LD_LIBRARY_PATH");
    wc_case_fact(c, WC_FACT_STANDS_BEFORE, own ? own->r.path : NULL);
    if (meant)
        wc_case_fact(c, WC_FACT_MIND, "it shadows no other copy, and no call failed");
    wc_case_end(c);
}

static void compare_homes(struct wc_diagnosis *d, const struct wc_object *facade) {
    int32_t major = wc_cuda_of_set(d->s, facade).major;
    const struct wc_object *of = reference(d, facade, major);
    const struct wc_object *foreign =
        WC_FIRST(o, d->s->objects,
                 of && o != of && is_of_major(o, major) && is_foreign(d->s, o, of) &&
                     !wc_has_cuda_copy(d->s, o)); /* that is reported as such */
    const struct wc_searched *f = foreign ? wc_search_of(d->s, foreign) : NULL;

    if (foreign)
        report_foreign(d, facade, foreign,
                       WC_FIRST(b, d->s->candidates,
                                f && b->r.search == f->r.search && b->r.beaten &&
                                    is_below(b->r.real_path ?: b->r.path, home_of(of))));
}

/* With the one in the directory of what asked for it, which another came before: NVRTC has its
 * builtins there (cupy#7560), a bundle all that its cuDNN opens (dorado#166). */
static void compare_with_own(struct wc_diagnosis *d, const struct wc_object *o) {
    const struct wc_object *by = wc_object_of(d->s, o->r.asked_by_object, o->r.asked_by);
    const bool counts = o->r.mapped && o->r.role == WC_role_CUDA_DEPENDENCY && o->r.part && by &&
                        (wc_is_cudnn(by) || by->r.role == WC_role_CUDA_DEPENDENCY) &&
                        !WC_ANY(r, *d->out, wc_str_same(r->id, d->kind->id));
    const struct wc_searched *f = counts ? wc_search_of(d->s, o) : NULL;
    const struct wc_candidate *own =
        WC_FIRST(b, d->s->candidates,
                 f && b->r.search == f->r.search && b->r.beaten &&
                     wc_same_directory(b->r.real_path ?: b->r.path, wc_real_path_of(by)));

    if (own && wc_ended_badly(d->s))
        report_foreign(d, by, o, own);
}

void wc_find_cuda_dependency_differs(struct wc_diagnosis *d) {
    const struct wc_stack *s = d->s;
    struct wc_name n, other;

    WC_EACH(f, s->failures) {
        if (!is_missing(s, f, NULL, &n) ||
            WC_FIRST(a, s->failures, is_missing(s, a, n.part, &other)) != f ||
            wc_found_before(d, WC_NULL, "cuda-major-differs", NULL))
            continue;
        const struct wc_object *by = wc_caller_of(s, f), *facade = wc_facade_of(s, by);
        struct wc_case *c = wc_case_begin(d, facade ?: by, NULL);

        /* The last requester may have continued without, to end for something else. */
        if (wc_ended_badly(s)
                ? was_felt_later(s, f, n.part) || (has_come(s, n.part) && is_of_other_cuda(s, f))
            : is_optional(n.part) ? !wc_a_call_failed(s)
                                  : host_went_without(s, f))
            c->effect = WC_EFFECT_DOUBTED;
        c->r.title = wc_format(c, "%s asked for %s, which was not found", wc_format_caller(c, f),
                               wc_format_name(c, f->r.name));
        WC_EACH(like, s->failures)
            if (is_missing(s, like, n.part, &other))
                wc_case_request(c, like);
        wc_case_asked_by(c, f);
        if (facade) {
            wc_case_library(c, WC_FACT_CUDNN, facade);
            wc_case_cuda(c, facade);
        }
        cuda_dependency_facts(c);
        wc_case_searched(c, wc_search_in_vain(s, f));
        wc_case_end(c);
    }
    wc_each_facade(d, true, compare_homes);
    WC_EACH(o, d->s->objects)
        compare_with_own(d, o);
}
