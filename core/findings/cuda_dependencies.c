/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda-major-differs, cuda-dependency-differs: the CUDA libraries beside cuDNN. A cuDNN of the
 * right release may be made for another CUDA than its host, or get its cuBLAS from elsewhere.
 */
#include "finding.h"

/* ---- cuda-major-differs ---- */

struct majors {
    struct wc_cuda made_for;       /* cuDNN */
    const struct wc_object *host;  /* uses it and is made for another one */
    struct wc_cuda of_host;        /* what that host says */
    const struct wc_object *own;   /* a CUDA dependency of cuDNN's own major */
    const struct wc_object *other; /* one of another */
    int32_t cuda;                  /* the other major */
    bool host_agrees;
};

static void look_at_hosts(const struct wc_diagnosis *d, const struct wc_object *facade,
                          struct majors *m) {
    WC_EACH(use, d->uses) {
        struct wc_cuda cuda = wc_cuda_of_host(use->host);
        if (cuda.major <= 0 || wc_facade_of(d->s, use->library) != facade)
            continue;
        if (cuda.major == m->made_for.major) {
            m->host_agrees = true;
        } else if (!m->host) {
            m->host = use->host;
            m->of_host = cuda;
        }
    }
}

static void look_at_cuda_dependencies(const struct wc_stack *s, struct majors *m) {
    int32_t cuda;

    WC_EACH(o, s->objects) {
        if (!wc_is_cuda_dependency(o, &cuda))
            continue;
        if (cuda == m->made_for.major) {
            m->own = o;
        } else if (!m->other) {
            m->other = o;
            m->cuda = cuda;
        }
    }
}

/* Was one of its own major asked for by cuDNN in vain? */
static bool is_vain(const struct wc_stack *s, const struct wc_failure *f, int32_t major) {
    return wc_is_load(f) && wc_name_cuda(f->r.name) == major && wc_asked_by_cudnn(s, f);
}

static bool asked_in_vain(const struct wc_stack *s, int32_t major) {
    return WC_ANY(f, s->failures, is_vain(s, f, major));
}

static void cuda_dependency_facts(struct wc_case *c) {
    int32_t cuda;

    WC_EACH(o, c->d->s->objects)
        if (wc_is_cuda_dependency(o, &cuda)) {
            const char *installation = wc_format_installation(c, o);
            wc_case_fact(
                c, o->r.part ? o->r.part : "CUDA dependency",
                wc_format(c, "%s%s%s", wc_path_of(o), installation ? "  " : "", installation),
                "link map");
        }
}

static void major_facts(struct wc_case *c, const struct wc_object *facade, const struct majors *m) {
    wc_case_library(c, "cuDNN", facade);
    wc_case_cuda(c, facade);
    if (m->host)
        wc_case_fact(
            c, "host",
            wc_format(c, "%s, CUDA %d: %s", wc_path_of(m->host), m->of_host.major, m->of_host.by),
            m->of_host.source);
    cuda_dependency_facts(c);
    WC_EACH(f, c->d->s->failures)
        if (is_vain(c->d->s, f, m->made_for.major))
            wc_case_request(c, f);
}

static void report_majors(struct wc_diagnosis *d, const struct wc_object *facade,
                          const struct majors *m) {
    const struct wc_object *against = m->host ? m->host : m->other;
    int32_t cuda = m->host ? m->of_host.major : m->cuda;
    struct wc_case c;

    wc_case_begin(&c, d);
    /* Its own CUDA dependencies came in beside those of the host: works as long as both are found.
     */
    if (m->own)
        c.r.severity = WC_severity_WARNING;
    c.r.title = wc_format(&c, "%s is made for CUDA %d, %s is of CUDA %d",
                          wc_format_name(&c, wc_name_of(facade)), m->made_for.major,
                          wc_format_name(&c, wc_path_of(against)), cuda);
    c.r.object = facade->r.object;
    c.r.host = m->host ? m->host->r.object : WC_NULL;
    c.r.predicted = !m->own && !asked_in_vain(d->s, m->made_for.major);
    major_facts(&c, facade, m);
    wc_fix_search_path(&c, facade);
    wc_fix_cuda(&c, facade, cuda);
    if (!m->host)
        wc_fix_search_path(&c, m->other);
    wc_fix_cuda_dependency(&c, "cublasLt", m->made_for.major,
                           wc_format(&c, "libcublasLt.so.%d", m->made_for.major));
    wc_case_end(&c);
}

/* Two hosts of two CUDA majors may each have its own cuDNN: CUDA dependencies of another major
 * say nothing where the hosts of this one agree with it. */
static void compare_majors(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct majors m = {.made_for = wc_cuda_of_set(d->s, facade)};

    if (m.made_for.major <= 0)
        return;
    look_at_hosts(d, facade, &m);
    look_at_cuda_dependencies(d->s, &m);
    if (m.host || (m.other && !m.own && !m.host_agrees))
        report_majors(d, facade, &m);
}

void wc_find_cuda_major_differs(struct wc_diagnosis *d) {
    wc_each_facade(d, true, compare_majors);
}

/* ---- cuda-dependency-differs: missing ---- */

static bool came_in(const struct wc_stack *s, const char *part) {
    return WC_ANY(o, s->objects,
                  o->r.role == WC_role_CUDA_DEPENDENCY && o->r.mapped &&
                      wc_str_same(o->r.part, part));
}

/* cuDNN looks for the compiler when it needs it, and goes on without where it can. */
static bool is_optional(const char *part) {
    return wc_str_starts(part, "nvrtc");
}

static bool aborted(const struct wc_stack *s) {
    return s->has_outcome && s->outcome.ending == WC_ending_SIGNALED &&
           wc_str_same(s->outcome.signal_name, "SIGABRT");
}

/* A CUDA dependency that cuDNN itself asked for, and that nobody brought. cuDNN 8 tries two names
 * of the compiler, took the loader's words on the first for its own failure, and aborted (C18). */
static bool is_missing(const struct wc_stack *s, const struct wc_failure *f, struct wc_name *n) {
    char other[128];

    wc_name_read(f->r.name, n);
    return n->kind == WC_NAME_CUDA_DEPENDENCY && wc_is_load(f) && wc_asked_by_cudnn(s, f) &&
           !wc_failed_dependency(f, other, sizeof other) &&
           (!came_in(s, n->part) || (is_optional(n->part) && aborted(s)));
}

static bool is_missing_part(const struct wc_stack *s, const struct wc_failure *f,
                            const char *part) {
    struct wc_name n;

    return is_missing(s, f, &n) && wc_str_same(n.part, part);
}

static bool is_first(const struct wc_stack *s, const struct wc_failure *f, const char *part) {
    const struct wc_failure *first = s->failures.p;

    while (first < f && !is_missing_part(s, first, part))
        first++;
    return first == f;
}

/* It is there under its numbered name alone: link it. */
static void fix_name(struct wc_case *c, const char *part, const char *wanted) {
    WC_EACH(o, c->d->s->objects) {
        const char *path = wc_path_of(o), *from, *to;
        if (o->r.role != WC_role_CUDA_DEPENDENCY || !path || !wc_str_same(o->r.part, part))
            continue;
        from = wc_format_quoted(c, path);
        to =
            wc_format_quoted(c, wc_format(c, "%s/%s", wc_directory_of(c, o), wc_base_name(wanted)));
        wc_case_fix(c, WC_ACTION_INSTALL,
                    wc_format(c, "give %s the name %s, too", path, wc_format_name(c, wanted)),
                    from && to ? wc_format(c, "ln -s %s %s", from, to) : NULL);
        return;
    }
}

static void emit_missing(struct wc_diagnosis *d, const struct wc_failure *f, const char *part) {
    const struct wc_stack *s = d->s;
    const struct wc_object *by = wc_caller_of(s, f), *facade = wc_facade_of(s, by);
    int32_t cuda = -1;
    struct wc_case c;

    wc_case_begin(&c, d);
    if (is_optional(part) && !wc_a_call_failed(s) && !aborted(s))
        c.r.severity = WC_severity_WARNING;
    c.r.title = wc_format(&c, "%s asked for %s, which was not found", wc_format_caller(&c, f),
                          wc_format_name(&c, f->r.name));
    c.r.object = facade ? facade->r.object : by ? by->r.object : WC_NULL;
    WC_EACH(other, s->failures)
        if (is_missing_part(s, other, part)) {
            wc_case_request(&c, other);
            cuda = cuda < 0 ? wc_name_cuda(other->r.name) : cuda;
        }
    wc_case_asked_by(&c, f);
    if (facade) {
        wc_case_library(&c, "cuDNN", facade);
        wc_case_cuda(&c, facade);
        cuda = cuda < 0 ? wc_cuda_of_set(s, facade).major : cuda;
    }
    cuda_dependency_facts(&c);
    fix_name(&c, part, f->r.name);
    wc_fix_cuda_dependency_path(&c, facade, part, f->r.name);
    wc_fix_cuda_dependency(&c, part, cuda, f->r.name);
    wc_case_advice(&c, WC_ACTION_SET_VARIABLE,
                   "and let LD_LIBRARY_PATH name its directory before the process starts");
    wc_case_end(&c);
}

/* ---- cuda-dependency-differs: from elsewhere ---- */

/* Where an installation of many packages begins: site-packages, the conda environment, the toolkit.
 * NULL: one library's own directory tells nothing. */
struct home {
    const char *p;
    size_t n;
};

static struct home home_of(const struct wc_object *o) {
    static const char *const roots[] = {"/site-packages/", "/dist-packages/"};
    static const char system[] = "package manager";
    const char *path = wc_real_path_of(o);

    switch (o->r.installation_kind) {
    case WC_installation_kind_WHEEL:
        WC_EACH_ROW(root, roots) {
            const char *at = path ? wc_str_find(path, *root) : NULL;
            if (at)
                return (struct home){path, (size_t)(at - path)};
        }
        break;
    case WC_installation_kind_DEBIAN:
    case WC_installation_kind_RPM:
        return (struct home){system, sizeof system - 1};
    case WC_installation_kind_CONDA:
    case WC_installation_kind_CUDA_TOOLKIT:
        break;
    default:
        return (struct home){NULL, 0};
    }
    path = o->r.installation_path;
    return (struct home){path, path ? wc_str_length(path) : 0};
}

static bool same_home(struct home a, struct home b) {
    return a.n == b.n && (a.p == b.p || (a.p && b.p && wc_mem_compare(a.p, b.p, a.n) == 0));
}

/* An environment brings all that its libraries need; a toolkit does too, unless one is named. */
static bool is_environment(const struct wc_object *o) {
    return o->r.installation_kind == WC_installation_kind_WHEEL ||
           o->r.installation_kind == WC_installation_kind_CONDA;
}

static bool is_below(const char *path, struct home home) {
    return home.p && path && wc_str_length(path) > home.n &&
           wc_mem_compare(path, home.p, home.n) == 0 && path[home.n] == '/';
}

static bool host_lives_there(const struct wc_diagnosis *d, const struct wc_object *facade) {
    struct home home = home_of(facade);

    return WC_ANY(use, d->uses,
                  is_below(wc_real_path_of(use->host), home) &&
                      wc_facade_of(d->s, use->library) == facade);
}

/* The library whose installation the CUDA dependencies should be of. */
static const struct wc_object *reference(const struct wc_diagnosis *d,
                                         const struct wc_object *facade, int32_t major) {
    const struct wc_object *other = NULL;
    int32_t cuda;

    WC_EACH(o, d->s->objects) {
        if (!wc_is_cuda_dependency(o, &cuda) || (major > 0 && cuda != major))
            continue;
        if (is_environment(o))
            return o;
        if (!other && home_of(o).p)
            other = o;
    }
    if (is_environment(facade) && host_lives_there(d, facade))
        return facade;
    return other;
}

/* Is it of another installation, as far as that can be said? */
static bool is_foreign(const struct wc_stack *s, const struct wc_object *o,
                       const struct wc_object *of) {
    struct home home = home_of(o);

    if (o->r.installation_kind == WC_installation_kind_BUNDLED ||
        is_below(wc_real_path_of(o), home_of(of)))
        return false; /* a framework's own, under a name of its own; or nobody's, but there */
    if (home.p)
        return !same_home(home, home_of(of));
    return is_environment(of) && wc_in_search_path(s, o);
}

/* The one is made for the other's very release. */
static bool is_of_pair(const struct wc_object *o) {
    return wc_str_same(o->r.part, "cublas") || wc_str_same(o->r.part, "cublasLt");
}

static bool pair_is_torn(const struct wc_stack *s, const struct wc_object *foreign) {
    int32_t cuda = wc_name_cuda(wc_path_of(foreign)), other;
    struct home home = home_of(foreign);

    return WC_ANY(
        o, s->objects,
        is_of_pair(foreign) && is_of_pair(o) && !wc_str_same(o->r.part, foreign->r.part) &&
            wc_is_cuda_dependency(o, &other) && other == cuda &&
            o->r.installation_kind != WC_installation_kind_BUNDLED && !same_home(home_of(o), home));
}

/* The library of the environment itself, which the search would have found next; NULL: none. */
static const struct wc_candidate_record *own_of(const struct wc_stack *s,
                                                const struct wc_object *foreign, struct home home) {
    const struct wc_searched *f = wc_search_of(s, foreign);

    WC_EACH(b, s->candidates)
        if (f && b->r.search == f->r.search && b->r.beaten &&
            is_below(b->r.real_path ? b->r.real_path : b->r.path, home))
            return &b->r;
    return NULL;
}

static bool crashed(const struct wc_stack *s) {
    static const char *const signals[] = {"SIGABRT", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"};

    WC_EACH_ROW(name, signals)
        if (s->has_outcome && s->outcome.ending == WC_ending_SIGNALED &&
            wc_str_same(s->outcome.signal_name, *name))
            return true;
    return false;
}

/* Whoever has cuDNN in an environment and the rest in a toolkit, and fares well, may mean it. */
static bool may_be_meant(const struct wc_stack *s, const struct wc_object *foreign) {
    return !pair_is_torn(s, foreign) && !wc_a_call_failed(s) && !crashed(s);
}

static void report_foreign(struct wc_diagnosis *d, const struct wc_object *facade,
                           const struct wc_object *foreign, const struct wc_object *of) {
    const struct wc_candidate_record *own = own_of(d->s, foreign, home_of(of));
    bool meant = !own && may_be_meant(d->s, foreign);
    const char *directory;
    struct wc_case c;

    wc_case_begin(&c, d);
    c.r.severity = meant ? WC_severity_NOTE : WC_severity_WARNING;
    directory = wc_directory_of(&c, foreign);
    c.r.title = wc_format(&c, "%s beside %s comes from another installation: %s",
                          wc_format_name(&c, wc_path_of(foreign)),
                          wc_format_name(&c, wc_name_of(facade)), directory ? directory : "?");
    c.r.object = facade->r.object;
    wc_case_library(&c, "cuDNN", facade);
    wc_case_cuda(&c, facade);
    cuda_dependency_facts(&c);
    wc_case_variable(&c, "LD_LIBRARY_PATH");
    wc_case_fact(&c, "stands before", own ? own->path : NULL, "the loader's rules");
    if (meant)
        wc_case_fact(&c, "mind", "no other one was seen that it stands before, and no call failed",
                     NULL);
    wc_fix_search_path(&c, foreign);
    if (is_environment(of) && !own)
        wc_fix_cuda_dependency(&c, foreign->r.part, wc_name_cuda(wc_path_of(foreign)),
                               wc_path_of(foreign));
    wc_case_advice(&c, WC_ACTION_REMOVE, "or take it away from where the loader finds it: %s",
                   wc_path_of(foreign));
    wc_case_end(&c);
}

static void compare_homes(struct wc_diagnosis *d, const struct wc_object *facade) {
    int32_t major = wc_cuda_of_set(d->s, facade).major, cuda;
    const struct wc_object *of = reference(d, facade, major);

    WC_EACH(o, d->s->objects)
        if (of && o != of && wc_is_cuda_dependency(o, &cuda) && (major <= 0 || cuda == major) &&
            is_foreign(d->s, o, of)) {
            report_foreign(d, facade, o, of);
            return;
        }
}

void wc_find_cuda_dependency_differs(struct wc_diagnosis *d) {
    struct wc_name n;

    WC_EACH(f, d->s->failures)
        if (is_missing(d->s, f, &n) && is_first(d->s, f, n.part) &&
            !wc_found_before(d, WC_NULL, "cuda-major-differs", NULL))
            emit_missing(d, f, n.part);
    wc_each_facade(d, true, compare_homes);
}
