/* Records into the model: see whichcudnn/stack.h. */
#include "whichcudnn/stack.h"

#define FIRST_ROOM 8

/* Applying one record: where its copies go, and whether memory ended on the way. */
struct keeper {
    struct wc_stack *s;
    bool failed;
};

static uint32_t hash_of(const char *text, size_t n) {
    uint32_t h = 2166136261U;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619U;
    return h ^ h >> 16;
}

/* The same few paths come again in most records: the string kept last under the same hash is used
 * again if it is equal. */
static const char *keep_text(struct keeper *k, const char *text) {
    const char **seen;
    size_t n;

    if (!text || k->failed)
        return NULL;
    n = wc_str_length(text);
    seen = &k->s->seen[hash_of(text, n) % WC_STACK_SEEN];
    if (wc_str_same(*seen, text))
        return *seen;
    text = wc_arena_string_n(k->s->arena, text, n);
    if (text)
        *seen = text;
    else
        k->failed = true;
    return text;
}

/* A list's elements are n * texts pointers to text, whatever its kind. */
static const void *keep_texts(struct keeper *k, const void *list, size_t n, size_t texts) {
    const char *const *from = list;
    const char **to;

    if (n == 0 || k->failed)
        return NULL;
    to = n <= WC_RECORD_MAX ? wc_arena_take(k->s->arena, n * texts * sizeof(*to)) : NULL;
    if (!to) {
        k->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < n * texts; i++)
        to[i] = keep_text(k, from[i]);
    return to;
}

static void keep_strings(struct keeper *k, struct wc_strings *list, const struct wc_strings *old) {
    bool same = old && old->n == list->n;

    for (size_t i = 0; same && i < list->n; i++)
        same = wc_str_same(old->p[i], list->p[i]);
    list->p = same ? old->p : keep_texts(k, list->p, list->n, 1);
}

/* Turns every pointer of `record` (a struct of that kind) into one to a copy in the arena; what is
 * as in `old` (NULL: there is none) stays shared with it. */
static bool keep(struct wc_stack *s, enum wc_kind kind, void *record, const void *old) {
    struct keeper k = {s, false};
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);

    for (; n > 0; n--, f++) {
        void *value = (char *)record + f->offset;
        const void *before = old ? (const char *)old + f->offset : NULL;

        if (f->type == WC_FIELD_STR) {
            const char **text = value;
            bool same = before && wc_str_same(*(const char *const *)before, *text);
            *text = same ? *(const char *const *)before : keep_text(&k, *text);
        } else if (f->type == WC_FIELD_STRS) {
            keep_strings(&k, value, before);
        } else if (f->type == WC_FIELD_FACTS) {
            struct wc_facts *facts = value;
            facts->p = keep_texts(&k, facts->p, facts->n, 3);
        } else if (f->type == WC_FIELD_FIXES) {
            struct wc_fixes *fixes = value;
            fixes->p = keep_texts(&k, fixes->p, fixes->n, 3);
        }
    }
    return !k.failed;
}

/* Room for one entry more at *p: the entry's address, zeroed; NULL: none left. The old array is
 * lost to the arena, which doubling keeps below the size of the new one. */
static void *grow(struct wc_stack *s, void **p, size_t n, size_t *room, size_t size) {
    size_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *bigger;

    if (n >= WC_STACK_MOST)
        return NULL;
    if (n == *room) {
        bigger = wc_arena_take(s->arena, wanted * size);
        if (!bigger)
            return NULL;
        if (n)
            wc_mem_copy(bigger, *p, n * size);
        *p = bigger;
        *room = wanted;
    }
    wc_mem_set((char *)*p + n * size, 0, size);
    return (char *)*p + n * size;
}
#define GROW(s, list) grow(s, (void **)(void *)&(list).p, (list).n, &(list).room, sizeof(*(list).p))

void wc_stack_begin(struct wc_stack *s, struct wc_arena *arena) {
    wc_mem_set(s, 0, sizeof(*s));
    s->arena = arena;
}

static struct wc_version version_of(const char *text) {
    struct wc_version v = WC_VERSION_NONE;

    if (!text || !wc_version_parse(text, wc_str_length(text), &v))
        v = WC_VERSION_NONE;
    return v;
}

static struct wc_object *find_object(const struct wc_stack *s, int64_t object) {
    for (size_t i = 0; object != WC_NULL && i < s->objects.n; i++)
        if (s->objects.p[i].r.object == object)
            return &s->objects.p[i];
    return NULL;
}

static bool apply_object(struct wc_stack *s, const struct wc_record *r) {
    struct wc_object_record copy = r->u.object;
    struct wc_object *old = find_object(s, copy.object);
    struct wc_object *o;

    if (!keep(s, r->kind, &copy, old ? &old->r : NULL))
        return false;
    o = old ? old : GROW(s, s->objects);
    if (!o)
        return false;
    s->objects.n += !old;
    o->r = copy;
    o->seq = r->seq;
    o->version = version_of(copy.version);
    o->floor = version_of(copy.version_floor);
    o->ceiling = version_of(copy.version_ceiling);
    return true;
}

/* One object by number, or by path where no number is known. */
static bool same_thing(int64_t a, const char *a_path, int64_t b, const char *b_path) {
    return a == b && (a != WC_NULL || wc_str_same(a_path, b_path));
}

static struct wc_demand *find_demand(const struct wc_stack *s, const struct wc_demand_record *d) {
    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *e = &s->demands.p[i].r;
        if (same_thing(e->host, e->host_path, d->host, d->host_path) &&
            e->demand_kind == d->demand_kind && wc_str_same(e->source, d->source))
            return &s->demands.p[i];
    }
    return NULL;
}

static bool apply_demand(struct wc_stack *s, const struct wc_record *r) {
    struct wc_demand_record copy = r->u.demand;
    struct wc_demand *old = find_demand(s, &copy);
    struct wc_demand *d;

    if (!keep(s, r->kind, &copy, old ? &old->r : NULL))
        return false;
    d = old ? old : GROW(s, s->demands);
    if (!d)
        return false;
    s->demands.n += !old;
    d->r = copy;
    d->seq = r->seq;
    return true;
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

static size_t room_for(size_t n) {
    size_t room = FIRST_ROOM;

    while (room < n)
        room *= 2;
    return room;
}

static bool has_text(const struct wc_strings *list, const char *text) {
    for (size_t i = 0; i < list->n; i++)
        if (wc_str_same(list->p[i], text))
            return true;
    return false;
}

/* Functions come one by one where a host looks each up: the list grows by doubling, in place while
 * there is room, so that hundreds of them cost a few copies. */
static bool add_function(struct wc_stack *s, struct wc_strings *list, const char *name) {
    struct keeper k = {s, false};
    const char **names = (const char **)(uintptr_t)list->p;

    if (has_text(list, name))
        return true;
    if (list->n >= WC_STACK_MOST)
        return false;
    if (list->n == 0 || room_for(list->n) < list->n + 1) {
        names = wc_arena_take(s->arena, room_for(list->n + 1) * sizeof(*names));
        if (!names)
            return false;
        if (list->n)
            wc_mem_copy(names, list->p, list->n * sizeof(*names));
    }
    names[list->n] = keep_text(&k, name);
    if (k.failed)
        return false;
    list->p = names;
    list->n++;
    return true;
}

static bool add_functions(struct wc_stack *s, struct wc_strings *to,
                          const struct wc_strings *from) {
    bool all = true;

    for (size_t i = 0; i < from->n; i++)
        all = add_function(s, to, from->p[i]) && all;
    return all;
}

/* Only functions that were not told before can add to the count. */
static int64_t wrapped_together(const struct wc_binding_record *old,
                                const struct wc_binding_record *more) {
    int64_t fresh = 0;

    for (size_t i = 0; i < more->functions.n; i++)
        fresh += !has_text(&old->functions, more->functions.p[i]);
    if (old->wrapped == WC_NULL || more->wrapped == WC_NULL)
        return old->wrapped == WC_NULL ? more->wrapped : old->wrapped;
    return old->wrapped + (more->wrapped < fresh ? more->wrapped : fresh);
}

static bool apply_binding(struct wc_stack *s, const struct wc_record *r) {
    struct wc_binding_record copy = r->u.binding;
    struct wc_binding *b = find_binding(s, &copy);

    copy.functions = b ? b->r.functions : (struct wc_strings){NULL, 0};
    if (b)
        copy.wrapped = wrapped_together(&b->r, &r->u.binding);
    if (!keep(s, r->kind, &copy, b ? &b->r : NULL) || (!b && !(b = GROW(s, s->bindings))))
        return false;
    s->bindings.n += b == s->bindings.p + s->bindings.n;
    b->r = copy;
    b->seq = r->seq;
    return add_functions(s, &b->r.functions, &r->u.binding.functions);
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
    struct wc_failure *old = find_failure(s, &copy);
    struct wc_failure *f;

    if (!keep(s, r->kind, &copy, old ? &old->r : NULL))
        return false;
    f = old ? old : GROW(s, s->failures);
    if (!f)
        return false;
    s->failures.n += !old;
    f->r = copy;
    f->seq = r->seq;
    f->tid = r->tid;
    return true;
}

static bool apply_call(struct wc_stack *s, const struct wc_record *r) {
    struct wc_call_record copy = r->u.call;
    struct wc_call *c;

    if (!keep(s, r->kind, &copy, NULL) || !(c = GROW(s, s->calls)))
        return false;
    s->calls.n++;
    c->r = copy;
    c->seq = r->seq;
    c->tid = r->tid;
    return true;
}

static bool apply_blind(struct wc_stack *s, const struct wc_record *r) {
    struct wc_blind_record copy = r->u.blind;
    struct wc_blind *b;

    if (!keep(s, r->kind, &copy, NULL) || !(b = GROW(s, s->blinds)))
        return false;
    s->blinds.n++;
    b->r = copy;
    b->seq = r->seq;
    return true;
}

static bool apply_finding(struct wc_stack *s, const struct wc_record *r) {
    struct wc_finding_record copy = r->u.finding;
    struct wc_noted_finding *f;

    if (!s->keep_findings)
        return true;
    if (!keep(s, r->kind, &copy, NULL) || !(f = GROW(s, s->findings)))
        return false;
    s->findings.n++;
    f->r = copy;
    f->seq = r->seq;
    f->time = r->time;
    return true;
}

/* The kinds of which a process has one: the newest stands, an older one outlives a lack of
 * memory. */
static bool apply_single(struct wc_stack *s, const struct wc_record *r, void *to, size_t size,
                         bool *has) {
    struct wc_record copy = *r;

    if (!keep(s, r->kind, &copy.u, *has ? to : NULL))
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
    case WC_KIND_demand:
        return apply_demand(s, r);
    case WC_KIND_binding:
        return apply_binding(s, r);
    case WC_KIND_failure:
        return apply_failure(s, r);
    case WC_KIND_call:
        return apply_call(s, r);
    case WC_KIND_blind:
        return apply_blind(s, r);
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
