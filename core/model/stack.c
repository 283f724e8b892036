/* SPDX-License-Identifier: Apache-2.0 */
/* Records into the model: see core/model/stack.h. */
#include "stack.h"

#include "stack_keep.h"

/* A copy of a record into its entry, which begins with it: `old`, else a new one at the list's end.
 * NULL: no memory, and what was there stays. */
static void *put(struct wc_stack *s, enum wc_kind kind, void *copy, size_t copy_size, void *old,
                 void **list, size_t *n, size_t *room, size_t size) {
    void *entry;

    if (!wc_stack_keep(s, kind, copy, old))
        return NULL;
    entry = old ? old : wc_stack_grow(s, list, *n, room, size);
    if (!entry)
        return NULL;
    *n += !old;
    wc_mem_copy(entry, copy, copy_size);
    return entry;
}
#define PUT(entry, s, list, record, copy, old)                                                     \
    ((entry = put(s, (record)->kind, copy, sizeof(*(copy)), old, (void **)(void *)&(s)->list.p,    \
                  &(s)->list.n, &(s)->list.room, sizeof(*(s)->list.p))) &&                         \
     ((entry)->seq = (record)->seq, true))

void wc_stack_begin(struct wc_stack *s, struct wc_arena *arena) {
    wc_mem_set(s, 0, sizeof(*s));
    s->arena = arena;
}

static struct wc_object *find_object(const struct wc_stack *s, int64_t object) {
    for (size_t i = 0; object != WC_NULL && i < s->objects.n; i++)
        if (s->objects.p[i].r.object == object)
            return &s->objects.p[i];
    return NULL;
}

static bool apply_object(struct wc_stack *s, const struct wc_record *r) {
    struct wc_object_record copy = r->u.object;
    struct wc_object *o;

    if (!PUT(o, s, objects, r, &copy, find_object(s, copy.object)))
        return false;
    o->version = wc_version_of(copy.version);
    o->floor = wc_version_of(copy.version_floor);
    o->ceiling = wc_version_of(copy.version_ceiling);
    return true;
}

/* One object by number, or by path where no number is known. */
static bool same_thing(int64_t a, const char *a_path, int64_t b, const char *b_path) {
    return a == b && (a != WC_NULL || wc_str_same(a_path, b_path));
}

static struct wc_package *find_package(const struct wc_stack *s,
                                       const struct wc_package_record *p) {
    for (size_t i = 0; i < s->packages.n; i++) {
        const struct wc_package_record *e = &s->packages.p[i].r;
        if (wc_str_same(e->package, p->package) && wc_str_same(e->prefix, p->prefix))
            return &s->packages.p[i];
    }
    return NULL;
}

static bool apply_package(struct wc_stack *s, const struct wc_record *r) {
    struct wc_package_record copy = r->u.package;
    struct wc_package *p;

    return PUT(p, s, packages, r, &copy, find_package(s, &copy));
}

/* A host is no object yet when its first request fails. */
static bool same_host(const struct wc_demand_record *a, const struct wc_demand_record *b) {
    bool unknown = a->host == WC_NULL || b->host == WC_NULL;
    return unknown ? wc_str_same(a->host_path, b->host_path) : a->host == b->host;
}

static struct wc_demand *find_demand(const struct wc_stack *s, const struct wc_demand_record *d) {
    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *e = &s->demands.p[i].r;
        if (same_host(e, d) && e->demand_kind == d->demand_kind &&
            wc_str_same(e->source, d->source))
            return &s->demands.p[i];
    }
    return NULL;
}

static bool apply_demand(struct wc_stack *s, const struct wc_record *r) {
    struct wc_demand_record copy = r->u.demand;
    struct wc_demand *old = find_demand(s, &copy), *d;

    if (old && copy.host == WC_NULL)
        copy.host = old->r.host;
    return PUT(d, s, demands, r, &copy, old);
}

static struct wc_binding *find_binding(const struct wc_stack *s,
                                       const struct wc_binding_record *b) {
    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct wc_binding_record *e = &s->bindings.p[i].r;
        if (same_thing(e->host, e->host_path, b->host, b->host_path) &&
            same_thing(e->target, e->target_path, b->target, b->target_path) && e->how == b->how)
            return &s->bindings.p[i];
    }
    return NULL;
}

/* Only functions that were not told before can add to the count. A log may name any number. */
static int64_t wrapped_together(const struct wc_binding_record *old,
                                const struct wc_binding_record *more) {
    int64_t fresh = 0, sum;

    for (size_t i = 0; i < more->functions.n; i++)
        fresh += !wc_has_text(&old->functions, more->functions.p[i]);
    if (old->wrapped == WC_NULL || more->wrapped == WC_NULL)
        return old->wrapped == WC_NULL ? more->wrapped : old->wrapped;
    fresh = more->wrapped < fresh ? more->wrapped : fresh;
    return __builtin_add_overflow(old->wrapped, fresh, &sum) ? old->wrapped : sum;
}

static bool apply_binding(struct wc_stack *s, const struct wc_record *r) {
    struct wc_binding_record copy = r->u.binding;
    struct wc_binding *old = find_binding(s, &copy), *b;

    copy.functions = old ? old->r.functions : (struct wc_strings){NULL, 0};
    if (old)
        copy.wrapped = wrapped_together(&old->r, &r->u.binding);
    return PUT(b, s, bindings, r, &copy, old) &&
           wc_stack_add_texts(s, &b->r.functions, &r->u.binding.functions);
}

/* What was first inferred and is then told in the loader's words is one failure; so is the same
 * question, asked again by the same object with the same answer (a facade asks anew for each
 * function). */
static struct wc_failure *find_failure(const struct wc_stack *s,
                                       const struct wc_failure_record *f) {
    for (size_t i = 0; i < s->failures.n; i++) {
        const struct wc_failure_record *e = &s->failures.p[i].r;
        bool same_request = e->inferred && f->request != WC_NULL && e->request == f->request;
        bool same_words = wc_str_same(e->text, f->text) &&
                          same_thing(e->caller_object, e->caller, f->caller_object, f->caller);
        if ((same_request || same_words) && e->operation == f->operation &&
            wc_str_same(e->name, f->name) && wc_str_same(e->function, f->function))
            return &s->failures.p[i];
    }
    return NULL;
}

static bool apply_failure(struct wc_stack *s, const struct wc_record *r) {
    struct wc_failure_record copy = r->u.failure;
    struct wc_failure *f;

    if (!PUT(f, s, failures, r, &copy, find_failure(s, &copy)))
        return false;
    f->tid = r->tid;
    return true;
}

static struct wc_searched *find_search(const struct wc_stack *s, int64_t search) {
    for (size_t i = 0; search != WC_NULL && i < s->searches.n; i++)
        if (s->searches.p[i].r.search == search)
            return &s->searches.p[i];
    return NULL;
}

static bool apply_search(struct wc_stack *s, const struct wc_record *r) {
    struct wc_search_record copy = r->u.search;
    struct wc_searched *one;

    return PUT(one, s, searches, r, &copy, find_search(s, copy.search));
}

static bool apply_candidate(struct wc_stack *s, const struct wc_record *r) {
    struct wc_candidate_record copy = r->u.candidate;
    struct wc_candidate *c;

    if (!PUT(c, s, candidates, r, &copy, NULL))
        return false;
    c->version = wc_version_of(copy.version);
    return true;
}

static struct wc_file *find_file(const struct wc_stack *s, const struct wc_file_record *f) {
    for (size_t i = 0; i < s->files.n; i++)
        if (s->files.p[i].r.request == f->request && wc_str_same(s->files.p[i].r.path, f->path))
            return &s->files.p[i];
    return NULL;
}

static bool apply_file(struct wc_stack *s, const struct wc_record *r) {
    struct wc_file_record copy = r->u.file;
    struct wc_file *f;

    return PUT(f, s, files, r, &copy, find_file(s, &copy));
}

static bool apply_call(struct wc_stack *s, const struct wc_record *r) {
    struct wc_call_record copy = r->u.call;
    struct wc_call *c;

    if (!PUT(c, s, calls, r, &copy, NULL))
        return false;
    c->tid = r->tid;
    return true;
}

static bool apply_unobserved(struct wc_stack *s, const struct wc_record *r) {
    struct wc_unobserved_record copy = r->u.unobserved;
    struct wc_unobserved *u;

    return PUT(u, s, unobserved, r, &copy, NULL);
}

static bool apply_finding(struct wc_stack *s, const struct wc_record *r) {
    struct wc_finding_record copy = r->u.finding;
    struct wc_noted_finding *f;

    if (!s->keep_findings)
        return true;
    if (!PUT(f, s, findings, r, &copy, NULL))
        return false;
    f->time = r->time;
    return true;
}

/* The kinds of which a process has one: the newest stands, an older one outlives a lack of
 * memory. */
static bool apply_single(struct wc_stack *s, const struct wc_record *r, void *to, size_t size,
                         bool *has) {
    struct wc_record copy = *r;

    if (!wc_stack_keep(s, r->kind, &copy.u, *has ? to : NULL))
        return false;
    wc_mem_copy(to, &copy.u, size);
    *has = true;
    return true;
}
#define SINGLE(s, r, kind) apply_single(s, r, &(s)->kind, sizeof((s)->kind), &(s)->has_##kind)

static bool apply(struct wc_stack *s, const struct wc_record *r) {
    switch (r->kind) {
    case WC_KIND_process:
        return SINGLE(s, r, process);
    case WC_KIND_machine:
        return SINGLE(s, r, machine);
    case WC_KIND_summary:
        return SINGLE(s, r, summary);
    case WC_KIND_outcome:
        return SINGLE(s, r, outcome);
    case WC_KIND_object:
        return apply_object(s, r);
    case WC_KIND_package:
        return apply_package(s, r);
    case WC_KIND_demand:
        return apply_demand(s, r);
    case WC_KIND_binding:
        return apply_binding(s, r);
    case WC_KIND_failure:
        return apply_failure(s, r);
    case WC_KIND_search:
        return apply_search(s, r);
    case WC_KIND_candidate:
        return apply_candidate(s, r);
    case WC_KIND_file:
        return apply_file(s, r);
    case WC_KIND_call:
        return apply_call(s, r);
    case WC_KIND_unobserved:
        return apply_unobserved(s, r);
    case WC_KIND_finding:
        return apply_finding(s, r);
    case WC_KIND_request:
        s->requests++;
        return true;
    default:
        return true;
    }
}

bool wc_stack_apply(struct wc_stack *s, const struct wc_record *r) {
    bool kept = apply(s, r);

    s->dropped += !kept;
    return kept;
}

const struct wc_object *wc_stack_object(const struct wc_stack *s, int64_t object) {
    return find_object(s, object);
}

bool wc_stack_has_unobserved(const struct wc_stack *s, const char *what, const char *path) {
    for (size_t i = 0; i < s->unobserved.n; i++)
        if (wc_str_same(s->unobserved.p[i].r.what, what) &&
            wc_str_same(s->unobserved.p[i].r.path, path))
            return true;
    return false;
}

static const char *real_path_of(const struct wc_object *o) {
    return o->r.real_path ? o->r.real_path : o->r.path;
}

bool wc_same_installation(const struct wc_object *a, const struct wc_object *b) {
    const char *a_path = real_path_of(a), *b_path = real_path_of(b);
    size_t n;

    if (a->r.installation_path && b->r.installation_path)
        return wc_str_compare(a->r.installation_path, b->r.installation_path) == 0;
    if (!a_path || !b_path)
        return true;
    n = wc_dir_length(a_path);
    return n == wc_dir_length(b_path) && wc_mem_compare(a_path, b_path, n) == 0;
}
