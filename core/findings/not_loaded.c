/*
 * library-not-found, dependency-missing: a library that was asked for did not come in. Frameworks
 * try several names and copies; a miss before the one that worked is no finding.
 */
#include "finding.h"

enum { MISSING_NAME = 128 };

/* Did who asked get an object that `test` likes, later? Who is not known got whatever came. */
static bool got_later(const struct wc_stack *s, const struct wc_failure *f,
                      bool (*test)(const struct wc_object *, const char *), const char *name) {
    bool known = f->r.caller_object != WC_NULL || f->r.caller;

    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object *o = &s->objects.p[i];
        if (test(o, name) && wc_came_after(o, f) &&
            (!known || wc_brought_by(s, o, f->r.caller_object, f->r.caller)))
            return true;
    }
    return false;
}

static bool is_facade(const struct wc_object *o, const char *name) {
    (void)name;
    return o->r.role == WC_role_FACADE;
}

static bool answers(const struct wc_object *o, const char *name) {
    return name && wc_answers_to(o, name);
}

/* A facade that somebody else had loaded is found without a new object: the caller's binding to it
 * tells. */
static bool bound_later(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_object *caller = wc_object_of(s, f->r.caller_object, f->r.caller);

    for (size_t i = 0; caller && i < s->bindings.n; i++) {
        const struct wc_binding *b = &s->bindings.p[i];
        if (b->seq > f->seq && wc_means(caller, b->r.host, b->r.host_path) &&
            wc_is_cudnn(wc_object_of(s, b->r.target, b->r.target_path)))
            return true;
    }
    return false;
}

/* ---- library-not-found ---- */

/* Does f print that a facade did not come in? The facade's name in out. */
static bool facade_not_loaded(const struct wc_stack *s, const struct wc_failure *f, char *out) {
    struct wc_text t;

    if (!wc_is_load(f) || wc_asked_by_cudnn(s, f))
        return false;
    if (wc_failed_dependency(f, out, MISSING_NAME))
        return wc_name_kind_of(out) == WC_NAME_FACADE && !got_later(s, f, answers, f->r.name) &&
               !got_later(s, f, is_facade, NULL);
    if (wc_name_kind_of(f->r.name) != WC_NAME_FACADE)
        return false;
    wc_text_begin(&t, out, MISSING_NAME);
    wc_text_add(&t, wc_base_name(f->r.name));
    return !got_later(s, f, is_facade, NULL) && !bound_later(s, f);
}

static bool same_caller(const struct wc_failure *a, const struct wc_failure *b) {
    return a->r.caller_object == b->r.caller_object && wc_str_same(a->r.caller, b->r.caller);
}

static bool told(const struct wc_stack *s, size_t i) {
    char name[MISSING_NAME];

    for (size_t k = 0; k < i; k++)
        if (same_caller(&s->failures.p[k], &s->failures.p[i]) &&
            facade_not_loaded(s, &s->failures.p[k], name))
            return true;
    return false;
}

/* The file was there, but the loader refused it: too short, no ELF, a symbol that it needs. */
static bool refused(const struct wc_failure *f) {
    char name[MISSING_NAME];

    return f->r.text && !wc_text_not_found(f->r.text, name, sizeof name);
}

static void elsewhere(struct wc_case *c) {
    const struct wc_stack *s = c->d->s;

    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.p[i].r.role == WC_role_FACADE)
            wc_case_library(c, "in the process by another way", &s->objects.p[i]);
}

/* Who wants the library: the file that was found and needs it, else who asked. */
static const char *host_of(const struct wc_failure *f, const char *missing) {
    bool itself = f->r.name && wc_str_same(missing, wc_base_name(f->r.name));

    return itself ? f->r.caller : f->r.name;
}

/* A demand that says more than the name. */
static const struct wc_demand_record *best_demand(const struct wc_stack *s, const char *host) {
    const struct wc_demand_record *required = wc_demand_of(s, host, WC_demand_kind_REQUIRED);

    return required && required->spec ? required : wc_demand_of(s, host, WC_demand_kind_BUILT);
}

/* What the host needs, of its demands or of the name it asked for. */
static const char *wanted(struct wc_case *c, const char *host, const char *name,
                          const char **package) {
    const struct wc_demand_record *best = best_demand(c->d->s, host);
    const char *spec = best ? wc_format_acceptable(c, best) : NULL;
    struct wc_name n;

    *package = best ? best->package : NULL;
    if (spec)
        return spec;
    wc_name_read(name, &n);
    return n.version.major > 0
               ? wc_format(c, "==", wc_format_number(c, n.version.major), ".*", NULL)
               : NULL;
}

/* Where the loader looked, for the first of the caller's requests of which that is known. */
static const struct wc_searched *search_of(const struct wc_stack *s, const struct wc_failure *f) {
    for (size_t i = 0; f->r.request != WC_NULL && i < s->searches.n; i++)
        if (s->searches.p[i].r.request == f->r.request && s->searches.p[i].r.object == WC_NULL)
            return &s->searches.p[i];
    return NULL;
}

static bool is_refused(const struct wc_stack *s, const char *host, struct wc_version v) {
    for (size_t i = 0; wc_version_known(v) && i < s->demands.n; i++)
        if (wc_is_demand_of(&s->demands.p[i].r, host) && wc_demand_refuses(&s->demands.p[i].r, v))
            return true;
    return false;
}

/* A copy that the loader does not elf_file at, which the host would take. */
static const struct wc_candidate *copy_for(const struct wc_stack *s, const struct wc_failure *f,
                                           const char *missing) {
    const struct wc_searched *searched = search_of(s, f);

    for (size_t i = 0; searched && i < s->candidates.n; i++) {
        const struct wc_candidate *b = &s->candidates.p[i];
        if (b->r.search == searched->r.search && b->r.rule == WC_search_rule_NOT_SEARCHED &&
            !is_refused(s, host_of(f, missing), b->version))
            return b;
    }
    return NULL;
}

static void fix_with_copy(struct wc_case *c, const struct wc_candidate *b) {
    wc_fix_with_copy(c, b->r.path, b->r.version ? b->r.version : "a copy");
}

/* A directory that was searched has the library, but not this major of it; NULL: none has. */
static const struct wc_file_record *other_major(const struct wc_stack *s,
                                                const struct wc_failure *f) {
    const struct wc_file_record *file = wc_file_like(s, f, "libcudnn.so");

    return file && file->soname ? file : NULL;
}

static void demand_facts(struct wc_case *c, const char *host) {
    const struct wc_stack *s = c->d->s;

    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *r = &s->demands.p[i].r;
        if (wc_is_demand_of(r, host))
            wc_case_fact(c, "wanted", wc_format_demand_whole(c, r), wc_format_demand_source(c, r));
    }
}

static void not_found_facts(struct wc_case *c, size_t i, const char *missing) {
    const struct wc_stack *s = c->d->s;
    const char *paths = wc_variable(s, "LD_LIBRARY_PATH");
    const struct wc_file_record *other = other_major(s, &s->failures.p[i]);
    const struct wc_searched *searched;
    char name[MISSING_NAME];

    for (size_t k = i; k < s->failures.n; k++) {
        const struct wc_failure *f = &s->failures.p[k];
        if (!same_caller(f, &s->failures.p[i]) || !facade_not_loaded(s, f, name))
            continue;
        wc_case_request(c, f);
        if (!wc_str_same(name, f->r.name ? wc_base_name(f->r.name) : NULL))
            wc_case_fact(c, "which needs", wc_format_name(c, name), "dlerror");
    }
    searched = search_of(s, &s->failures.p[i]);
    if (searched) {
        wc_case_searched(c, searched);
        wc_case_candidates(c, searched);
    }
    if (other)
        wc_case_file(c, "another major is there", other,
                     other->rule ? wc_enum_word(WC_ENUM_search_rule, other->rule)
                                 : "directory asked for");
    wc_case_fact(c, "asked by", s->failures.p[i].r.caller, "loader request");
    demand_facts(c, host_of(&s->failures.p[i], missing));
    wc_case_fact(c, "LD_LIBRARY_PATH", paths ? paths : "not set", "environment at process start");
    elsewhere(c);
}

static void not_found_fixes(struct wc_case *c, const struct wc_failure *f, const char *name) {
    const struct wc_object *host = wc_object_of(c->d->s, f->r.caller_object, f->r.caller);
    const struct wc_file_record *other = other_major(c->d->s, f);
    const struct wc_object beside = wc_file_as_object(other, NULL);
    const struct wc_candidate *copy = copy_for(c->d->s, f, name);
    const char *package, *spec = wanted(c, host_of(f, name), name, &package);

    if (copy)
        fix_with_copy(c, copy);
    wc_fix_install(c, host, other ? &beside : NULL, spec, package);
    if (!copy)
        wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                    wc_format(c, "or let LD_LIBRARY_PATH name the directory that has ",
                              wc_format_name(c, name), NULL),
                    NULL);
}

static void report_not_found(struct wc_diagnosis *d, size_t i, const char *name) {
    const struct wc_failure *f = &d->s->failures.p[i];
    const struct wc_object *host = wc_object_of(d->s, f->r.caller_object, f->r.caller);
    struct wc_case c;

    wc_case_begin(&c, d);
    if (wc_str_same(name, f->r.name ? wc_base_name(f->r.name) : NULL))
        c.r.title =
            wc_format(&c, wc_format_caller(&c, f),
                      f->r.operation == WC_operation_NEEDED ? " needs " : " asked for ",
                      wc_format_name(&c, name),
                      refused(f) ? ", which could not be loaded" : ", which was not found", NULL);
    else
        c.r.title = wc_format(&c, wc_format_name(&c, f->r.name), " needs ",
                              wc_format_name(&c, name), ", which was not found", NULL);
    if (host)
        c.r.host = host->r.object;
    c.r.explained_by = wc_found_before(d, WC_NULL, "installation-incomplete", NULL);
    not_found_facts(&c, i, name);
    if (refused(f))
        wc_case_fix(&c, WC_ACTION_CHECK,
                    "look at the file that the loader refused, and reinstall "
                    "the package that it belongs to",
                    NULL);
    else
        not_found_fixes(&c, f, name);
    wc_case_end(&c);
}

/* A file was there for this caller: that is the cause, and bad-file, wrong-name or
 * symbol-version-not-found tells it. */
static bool reported_by_file(const struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_object *caller = wc_object_of(d->s, f->r.caller_object, f->r.caller);
    int64_t host = caller ? caller->r.object : WC_NULL;
    struct wc_bad_file bad;
    struct wc_unmet unmet;

    if (wc_failed_for_file(d->s, f, &bad) || wc_failed_for_name(d->s, f) ||
        wc_failed_for_symbol_version(d->s, f, &unmet))
        return true;
    for (size_t i = 0; i < d->out->n; i++) {
        const struct wc_finding_record *r = &d->out->p[i];
        bool by_file = wc_str_same(r->id, "bad-file") || wc_str_same(r->id, "wrong-name");
        if (by_file && r->host == host && r->object == WC_NULL &&
            wc_name_kind_of(r->facts.p[0].value) == WC_NAME_FACADE)
            return true;
    }
    return false;
}

void wc_find_library_not_found(struct wc_diagnosis *d) {
    char name[MISSING_NAME];

    for (size_t i = 0; i < d->s->failures.n && d->out->n < WC_FINDINGS_MOST; i++)
        if (facade_not_loaded(d->s, &d->s->failures.p[i], name) && !told(d->s, i) &&
            !reported_by_file(d, &d->s->failures.p[i]))
            report_not_found(d, i, name);
}

/* ---- dependency-missing ---- */

/* The driver and, outside of cuDNN, the facade have findings of their own; what has nothing to do
 * with cuDNN has none. */
static bool dependency_not_found(const struct wc_stack *s, const struct wc_failure *f, char *out) {
    enum wc_name_kind missing, asked;

    if (!wc_is_load(f) || !wc_failed_dependency(f, out, MISSING_NAME))
        return false;
    missing = wc_name_kind_of(out);
    asked = wc_name_kind_of(f->r.name);
    if (missing == WC_NAME_DRIVER || (missing == WC_NAME_FACADE && !wc_asked_by_cudnn(s, f)))
        return false;
    if (missing == WC_NAME_OTHER && !wc_kind_is_cudnn(asked) && !wc_asked_by_cudnn(s, f))
        return false;
    return !got_later(s, f, answers, f->r.name) && !got_later(s, f, answers, out);
}

static bool dependency_reported(const struct wc_stack *s, size_t i, const char *missing) {
    char name[MISSING_NAME];
    const char *asked = s->failures.p[i].r.name;

    for (size_t k = 0; k < i; k++) {
        const struct wc_failure *f = &s->failures.p[k];
        if (f->r.name && wc_str_same(wc_base_name(f->r.name), wc_base_name(asked)) &&
            dependency_not_found(s, f, name) && wc_str_same(name, missing))
            return true;
    }
    return false;
}

/* A cuDNN for another CUDA is the cause where that CUDA is in the process, and a thought where none
 * is. */
static void fix_made_for_other_cuda(struct wc_case *c, const char *missing) {
    wc_case_fix(c, WC_ACTION_INSTALL,
                wc_format(c, c->fixes ? "or " : "",
                          "take a cuDNN made for the CUDA that is installed: this one wants ",
                          wc_format_name(c, missing), NULL),
                NULL);
}

/* library: the cuDNN that asked for the part, NULL: none. A part that wants another CUDA than its
 * package is made for did not come with that package. */
static void dependency_fixes(struct wc_case *c, const struct wc_failure *f, const char *missing,
                             const struct wc_object *library) {
    int32_t wants = wc_name_cuda(missing), there = wc_cuda_of_dependencies(c->d->s);
    bool cudnn = library || wc_kind_is_cudnn(wc_name_kind_of(f->r.name));
    struct wc_name n;

    wc_name_read(missing, &n);
    if (library && wc_is_for_other_cuda(library, wants))
        wc_fix_reinstall(c, library);
    if (n.kind == WC_NAME_CUDA_DEPENDENCY && wants > 0) {
        if (cudnn && there > 0 && there != wants)
            fix_made_for_other_cuda(c, missing);
        wc_fix_cuda_dependency(c, n.part, wants, missing);
        if (cudnn && there < 0)
            fix_made_for_other_cuda(c, missing);
        return;
    }
    wc_case_fix(c, WC_ACTION_INSTALL,
                wc_format(c, c->fixes ? "or " : "", "install the package that has ",
                          wc_format_name(c, missing), " where the loader finds it", NULL),
                NULL);
}

static void report_dependency(struct wc_diagnosis *d, const struct wc_failure *f,
                              const char *missing) {
    const struct wc_object *caller = wc_object_of(d->s, f->r.caller_object, f->r.caller);
    const struct wc_searched *searched = search_of(d->s, f);
    const struct wc_candidate *copy = copy_for(d->s, f, missing);
    struct wc_case c;

    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, wc_format_name(&c, f->r.name), " could not be loaded: it needs ",
                          wc_format_name(&c, missing), ", which was not found", NULL);
    if (caller && wc_is_cudnn(caller))
        c.r.object =
            wc_facade_of(d->s, caller) ? wc_facade_of(d->s, caller)->r.object : caller->r.object;
    else if (caller)
        c.r.host = caller->r.object;
    c.r.explained_by = wc_found_before(d, c.r.object, "cuda-major-differs", NULL);
    wc_case_request(&c, f);
    wc_case_fact(&c, "missing", wc_format(&c, missing, NULL), "dlerror");
    if (searched && wc_str_same(searched->r.name, missing))
        wc_case_fact(&c, "needed by", searched->r.caller, "DT_NEEDED");
    wc_case_fact(&c, "asked by", f->r.caller, "loader request");
    if (searched) {
        wc_case_searched(&c, searched);
        wc_case_candidates(&c, searched);
    }
    if (caller && wc_is_cudnn(caller))
        wc_case_library(&c, "cuDNN", caller);
    if (copy)
        fix_with_copy(&c, copy);
    dependency_fixes(&c, f, missing, caller && wc_is_cudnn(caller) ? caller : NULL);
    wc_case_end(&c);
}

void wc_find_dependency_missing(struct wc_diagnosis *d) {
    char missing[MISSING_NAME];
    struct wc_bad_file bad;

    for (size_t i = 0; i < d->s->failures.n && d->out->n < WC_FINDINGS_MOST; i++)
        if (dependency_not_found(d->s, &d->s->failures.p[i], missing) &&
            !dependency_reported(d->s, i, missing) &&
            !wc_failed_for_file(d->s, &d->s->failures.p[i], &bad))
            report_dependency(d, &d->s->failures.p[i], missing);
}
