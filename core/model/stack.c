/* SPDX-License-Identifier: Apache-2.0 */
/* Applies records to the model (stack.h); its fingerprint. */
#include "stack.h"

#include "core/base/hash.h"

void wc_stack_begin(struct wc_stack *s, struct wc_arena *arena) {
    wc_mem_set(s, 0, sizeof(*s));
    s->arena = arena;
    s->texts = (struct wc_texts){arena, NULL, WC_STACK_SEEN};
}

/* ---- copies into the arena ---- */

enum {
    FIRST_ROOM = 8,
    SEEN_NEAR = 4, /* places for one hash, so that two texts do not replace each other each time */
    HASHED = 48,   /* bytes at its end, where paths differ (.cpython-311-x86_64-linux-gnu.so: 32) */
    INDEX_FROM = 32 /* entries; a shorter list is searched as quickly without an index */
};

/* Copies the texts of one record. */
struct keeper {
    struct wc_stack *s;
    bool failed; /* there was no memory for one */
};

/* Most records repeat the same few paths: a copy with the same hash is used again if it is equal.
 */
static const char *keep_text(struct keeper *k, const char *text) {
    struct wc_texts *texts = &k->s->texts;
    const char **seen, *none = NULL;
    size_t n, at;

    if (!text || k->failed)
        return NULL;
    if (!texts->seen)
        texts->seen = wc_arena_take(texts->arena, texts->room * sizeof(*seen));
    n = wc_str_length(text);
    at = n > HASHED ? wc_hash_bytes(n, text + n - HASHED, HASHED) : wc_hash_bytes(n, text, n);
    seen = texts->seen ? &texts->seen[at % texts->room] : &none;
    for (size_t i = 1;; i++) {
        if (wc_str_same(*seen, text))
            return *seen;
        if (!*seen || i == SEEN_NEAR)
            break;
        seen = &texts->seen[(at + i) % texts->room];
    }
    k->s->kept += n + 1;
    text = k->s->kept > WC_STACK_TEXTS_MOST ? NULL : wc_arena_string_n(texts->arena, text, n);
    if (text)
        *seen = text;
    else
        k->failed = true;
    return text;
}

/* A list of n elements, each of which is as many pointers to text as `texts` says. */
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
    bool same =
        old && old->n == list->n && !WC_ANY(one, *list, !wc_str_same(*one, old->p[one - list->p]));

    list->p = same ? old->p : keep_texts(k, list->p, list->n, 1);
}

bool wc_stack_keep(struct wc_stack *s, enum wc_kind kind, void *record, const void *old) {
    struct keeper k = {.s = s};
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
            facts->typed = NULL;
        }
    }
    return !k.failed;
}

static size_t room_for(size_t n) {
    size_t room = FIRST_ROOM;

    while (room < n)
        room *= 2;
    return room;
}

static bool has_text(const struct wc_strings *list, const char *text) {
    return WC_ANY(one, *list, wc_str_same(*one, text));
}

static bool add_text(struct wc_stack *s, struct wc_strings *list, const char *text) {
    struct keeper k = {.s = s};
    const char **texts = (const char **)(uintptr_t)list->p;

    if (has_text(list, text))
        return true;
    if (list->n >= WC_STACK_MOST)
        return false;
    if (list->n == 0 || room_for(list->n) < list->n + 1) {
        texts = wc_arena_take(s->arena, room_for(list->n + 1) * sizeof(*texts));
        if (!texts)
            return false;
        if (list->n)
            wc_mem_copy(texts, list->p, list->n * sizeof(*texts));
    }
    texts[list->n] = keep_text(&k, text);
    if (k.failed)
        return false;
    list->p = texts;
    list->n++;
    return true;
}

/* Adds the texts that `to` does not have yet; only this function may fill `to`. The list grows by
 * doubling, since a host that looks up each function adds them one by one. False: not all fit. */
static bool add_texts(struct wc_stack *s, struct wc_strings *to, const struct wc_strings *from) {
    bool all = true;

    for (size_t i = 0; i < from->n; i++)
        all = add_text(s, to, from->p[i]) && all;
    return all;
}

/* ---- is a record about the same thing as an older one? ---- */

/* What the table `listed` says is equal already. */

/* A host has no object record yet when its first request fails. */
static bool same_demand(const void *older, const void *newer) {
    const struct wc_demand_record *a = older, *b = newer;
    bool unknown = a->host == WC_NULL || b->host == WC_NULL;
    return (unknown || a->host == b->host) && wc_str_same(a->package, b->package) &&
           a->demand_kind == b->demand_kind;
}

/* The same object, by number, or by path if no number is known? */
static bool same_thing(int64_t a, const char *a_path, int64_t b, const char *b_path) {
    return a == b && (a != WC_NULL || wc_str_same(a_path, b_path));
}

static bool same_binding(const void *older, const void *newer) {
    const struct wc_binding_record *a = older, *b = newer;
    return same_thing(a->host, a->host_path, b->host, b->host_path) &&
           same_thing(a->target, a->target_path, b->target, b->target_path) && a->how == b->how;
}

/* A failure that was inferred first, and got the loader's message later, is one failure. So is the
 * same request, repeated by the same object with the same message (a facade repeats it for each
 * function). */
static bool same_failure(const void *older, const void *newer) {
    const struct wc_failure_record *a = older, *b = newer;
    bool same_request = a->inferred && b->request != WC_NULL && a->request == b->request;
    return a->operation == b->operation &&
           (same_request || (same_thing(a->caller_object, a->caller, b->caller_object, b->caller) &&
                             wc_str_same(a->text, b->text)));
}

/* ---- lists ---- */

/* What all lists of the model (WC_LIST), and the entries of all of them (WC_ENTRY), begin with. */
struct list {
    char *p;
    size_t n, room;
} __attribute__((may_alias));
struct head {
    int64_t seq, tid, time;
} __attribute__((may_alias));

static const struct listed {
    /* Offset of the list in struct wc_stack, size of an entry, offset and size of its record. Of a
     * kind of which a process has one record only the offset and the size of that. */
    size_t list, entry, record, record_size;
    size_t has; /* of such a kind: offset of the bool whether there is one; else 0 */
    bool anew;  /* each record is a thing of its own */
    /* Offsets in an entry of the number and texts that are equal if two records are about one
     * thing. */
    size_t number, text[2];
    /* Whether the rest is, where comparing these is not enough. */
    bool (*same)(const void *older, const void *newer);
} listed[WC_KINDS] = {
#define AT(type, field) offsetof(struct type, r.field)
#define LISTED(kind, type, list, ...)                                                              \
    [WC_KIND_##kind] = {offsetof(struct wc_stack, list), sizeof(struct type),                      \
                        offsetof(struct type, r), sizeof(struct wc_##kind##_record), __VA_ARGS__}
#define SINGLE(kind)                                                                               \
    [WC_KIND_##kind] = {.list = offsetof(struct wc_stack, kind),                                   \
                        .record_size = sizeof(struct wc_##kind##_record),                          \
                        .has = offsetof(struct wc_stack, has_##kind)}
    SINGLE(process),
    SINGLE(machine),
    SINGLE(summary),
    SINGLE(outcome),
    LISTED(object, wc_object, objects, .number = AT(wc_object, object)),
    LISTED(package, wc_package, packages,
           .text = {AT(wc_package, package), AT(wc_package, prefix)}),
    LISTED(demand, wc_demand, demands, .text = {AT(wc_demand, source), AT(wc_demand, host_path)},
           .same = same_demand),
    LISTED(binding, wc_binding, bindings, .number = AT(wc_binding, host), .same = same_binding),
    LISTED(failure, wc_failure, failures, .text = {AT(wc_failure, name), AT(wc_failure, function)},
           .same = same_failure),
    LISTED(search, wc_searched, searches, .number = AT(wc_searched, search)),
    LISTED(candidate, wc_candidate, candidates, .anew = true),
    LISTED(file, wc_file, files, .number = AT(wc_file, request), .text = {AT(wc_file, path)}),
    LISTED(call, wc_call, calls, .anew = true),
    LISTED(unobserved, wc_unobserved, unobserved, .anew = true,
           .text = {AT(wc_unobserved, what), AT(wc_unobserved, path)}),
    LISTED(finding, wc_noted_finding, findings, .anew = true),
};

/* The number of a record; WC_NULL if its kind has none. */
static int64_t number_of(const struct listed *l, const char *record) {
    const void *at = record + (l->number ? l->number - l->record : 0);
    return l->number ? *(const int64_t *)at : WC_NULL;
}

static const char *text_of(const struct listed *l, const char *record, size_t i) {
    const void *at = record + (l->text[i] ? l->text[i] - l->record : 0);
    return l->text[i] ? *(const char *const *)at : NULL;
}

/* Two records with unknown numbers, and nothing else to compare, are not the same thing. */
static bool is_same(const struct listed *l, const void *older, const void *newer) {
    return number_of(l, older) == number_of(l, newer) &&
           wc_str_same(text_of(l, older, 0), text_of(l, newer, 0)) &&
           wc_str_same(text_of(l, older, 1), text_of(l, newer, 1)) &&
           (l->same ? l->same(older, newer) : l->text[0] || number_of(l, older) != WC_NULL);
}

static struct list *list_of(const struct wc_stack *s, enum wc_kind kind) {
    return (struct list *)(uintptr_t)((const char *)s + listed[kind].list);
}

/* Where the search for a thing begins in an index. */
static size_t place_of(const struct listed *l, const void *record) {
    uint64_t hash = wc_hash_word(WC_HASH_START, number_of(l, record));
    return wc_hash_text(wc_hash_text(hash, text_of(l, record, 0)), text_of(l, record, 1));
}

static void put_into_index(struct wc_stack *s, enum wc_kind kind, size_t entry) {
    const struct listed *l = &listed[kind];
    struct wc_stack_index *x = &s->index[kind];
    size_t at = x->room ? place_of(l, list_of(s, kind)->p + entry * l->entry + l->record) : 0;
    while (x->room && x->p[at & (x->room - 1)])
        at++;
    if (x->room)
        x->p[at & (x->room - 1)] = (uint32_t)entry + 1;
}

/* The old arrays stay in the arena unused; with doubling that is less than the new ones. */
static bool make_room(struct wc_stack *s, enum wc_kind kind, size_t room) {
    const struct listed *l = &listed[kind];
    struct list *list = list_of(s, kind);
    struct wc_stack_index x = {NULL, 0};
    char *entries = wc_arena_take(s->arena, room * l->entry);
    if (room >= INDEX_FROM && (l->number || l->text[0])) {
        for (x.room = INDEX_FROM; x.room < 2 * room;)
            x.room *= 2;
        x.p = wc_arena_take(s->arena, x.room * sizeof *x.p);
    }
    if (!entries || (x.room && !x.p))
        return false;
    if (list->n)
        wc_mem_copy(entries, list->p, list->n * l->entry);
    *list = (struct list){entries, list->n, room};
    s->index[kind] = x;
    for (size_t i = 0; i < list->n; i++)
        put_into_index(s, kind, i);
    return true;
}

/* The first entry of the thing that a record is about; NULL: there is none yet. */
static void *find_entry(const struct wc_stack *s, enum wc_kind kind, const void *record) {
    const struct listed *l = &listed[kind];
    const struct list *list = list_of(s, kind);
    const struct wc_stack_index *x = &s->index[kind];
    size_t at = x->room ? place_of(l, record) : 0;
    for (;; at++) {
        size_t i = !x->room ? at : x->p[at & (x->room - 1)] - (size_t)1; /* of 0, which is free */
        if (i >= list->n)
            return NULL;
        if (is_same(l, list->p + i * l->entry + l->record, record))
            return list->p + i * l->entry;
    }
}

/* Only functions that are new in the record can add to the count. A hostile log may have any count.
 */
static int64_t wrapped_together(const struct wc_binding_record *old,
                                const struct wc_binding_record *more) {
    int64_t fresh = 0, sum;

    for (size_t i = 0; i < more->functions.n; i++)
        fresh += !has_text(&old->functions, more->functions.p[i]);
    if (old->wrapped == WC_NULL || more->wrapped == WC_NULL)
        return old->wrapped == WC_NULL ? more->wrapped : old->wrapped;
    fresh = more->wrapped < fresh ? more->wrapped : fresh;
    return __builtin_add_overflow(old->wrapped, fresh, &sum) ? old->wrapped : sum;
}

/* Takes over from the older record what the newer one lacks. */
static void add_older(struct wc_record *r, const void *older) {
    static const struct wc_binding_record none;

    if (r->kind == WC_KIND_demand && older && r->u.demand.host == WC_NULL) {
        r->u.demand.host = ((const struct wc_demand_record *)older)->host;
    } else if (r->kind == WC_KIND_binding) {
        if (older)
            r->u.binding.wrapped = wrapped_together(older, &r->u.binding);
        r->u.binding.functions =
            ((const struct wc_binding_record *)(older ? older : &none))->functions;
    }
}

static struct wc_asked *asked_at(struct wc_stack *s, int64_t request) {
    return &s->asked[(uint64_t)request % (sizeof s->asked / sizeof *s->asked)];
}

/* Parses the loader's message into f->said and f->needs. False: no memory. */
static bool keep_words(struct wc_stack *s, struct wc_failure *f) {
    char room[WC_SAID_ROOM];
    struct wc_said said = wc_said_read(f->r.text, room);
    struct keeper k = {.s = s};

    said.file = keep_text(&k, said.file);
    said.library = keep_text(&k, said.library);
    said.version = keep_text(&k, said.version);
    said.symbol = keep_text(&k, said.symbol);
    if (k.failed)
        return false;
    f->said = said;
    f->needs = said.what == WC_SAID_NOT_FOUND && f->r.name &&
                       !wc_str_same(said.file, wc_base_name(f->r.name))
                   ? said.file
                   : NULL;
    return true;
}

static bool apply_listed(struct wc_stack *s, const struct wc_record *r) {
    const struct listed *l = &listed[r->kind];
    struct list *list = list_of(s, r->kind);
    struct wc_record copy = *r;
    char *old = l->anew ? NULL : find_entry(s, r->kind, &r->u);
    void *entry, *record = old ? old + l->record : NULL;

    if (!old && list->n >= WC_STACK_MOST)
        return false;
    add_older(&copy, record);
    if (!wc_stack_keep(s, r->kind, &copy.u, record))
        return false;
    if (!old && list->n == list->room &&
        !make_room(s, r->kind, list->room ? list->room * 2 : FIRST_ROOM))
        return false;
    entry = old ? old : list->p + list->n * l->entry;
    /* Why a request failed may be reported long after it. */
    if (!old || r->kind != WC_KIND_failure || copy.u.failure.request == WC_NULL ||
        ((struct wc_failure *)entry)->r.request != copy.u.failure.request)
        *(struct head *)entry = (struct head){r->seq, r->tid, r->time};
    wc_mem_copy((char *)entry + l->record, &copy.u, l->record_size);
    if (!old)
        put_into_index(s, r->kind, list->n++);
    if (r->kind == WC_KIND_object) {
        struct wc_object *o = entry;
        o->version = wc_version_of(o->r.version);
        o->floor = wc_version_of(o->r.version_floor);
        o->ceiling = wc_version_of(o->r.version_ceiling);
    } else if (r->kind == WC_KIND_failure) {
        const struct wc_asked *asked = asked_at(s, r->u.failure.request);
        ((struct wc_failure *)entry)->asked =
            asked->request == r->u.failure.request && asked->seq ? asked->seq : r->seq;
        return keep_words(s, entry);
    } else if (r->kind == WC_KIND_candidate) {
        struct wc_candidate *c = entry;
        c->version = wc_version_of(c->r.version);
    } else if (r->kind == WC_KIND_binding) {
        return add_texts(s, &((struct wc_binding *)entry)->r.functions, &r->u.binding.functions);
    }
    return true;
}

/* The newest record replaces the older one. If there is no memory, the older one stays. */
static bool apply_single(struct wc_stack *s, const struct wc_record *r) {
    const struct listed *l = &listed[r->kind];
    bool *has = (bool *)s + l->has;
    char *to = (char *)s + l->list;
    struct wc_record copy = *r;

    if (!wc_stack_keep(s, r->kind, &copy.u, *has ? to : NULL))
        return false;
    wc_mem_copy(to, &copy.u, l->record_size);
    *has = true;
    return true;
}

bool wc_stack_apply(struct wc_stack *s, const struct wc_record *r) {
    bool kept = true;

    if (r->kind == WC_KIND_request) {
        s->requests++;
        *asked_at(s, r->u.request.request) = (struct wc_asked){r->u.request.request, r->seq};
    }
    if ((unsigned)r->kind < WC_KINDS && (r->kind != WC_KIND_finding || s->keep_findings))
        kept =
            listed[r->kind].has ? apply_single(s, r) : !listed[r->kind].entry || apply_listed(s, r);
    s->dropped += !kept;
    return kept;
}

const struct wc_object *wc_stack_object(const struct wc_stack *s, int64_t object) {
    const struct wc_object_record known = {.object = object};

    return object == WC_NULL ? NULL : find_entry(s, WC_KIND_object, &known);
}

bool wc_stack_has_unobserved(const struct wc_stack *s, const char *what, const char *path) {
    const struct wc_unobserved_record wanted = {.what = what, .path = path};

    return find_entry(s, WC_KIND_unobserved, &wanted) != NULL;
}

void wc_stack_each(struct wc_stack *s, void (*each)(void *ctx, enum wc_kind kind, void *record),
                   void *ctx) {
    for (unsigned kind = 0; kind < WC_KINDS; kind++) {
        const struct listed *l = &listed[kind];
        if (l->has)
            each(ctx, kind, (char *)s + l->list);
        for (size_t i = 0; l->entry && i < list_of(s, kind)->n; i++)
            each(ctx, kind, list_of(s, kind)->p + i * l->entry + l->record);
    }
}

const char *wc_real_path_of(const struct wc_object *o) {
    return o->r.real_path ? o->r.real_path : o->r.path;
}

bool wc_same_installation(const struct wc_object *a, const struct wc_object *b) {
    const char *a_path = wc_real_path_of(a), *b_path = wc_real_path_of(b);

    if (a->r.installation_path && b->r.installation_path)
        return wc_str_compare(a->r.installation_path, b->r.installation_path) == 0;
    return !a_path || !b_path || wc_same_directory(a_path, b_path);
}

/* ---- the fingerprint ---- */

/* A sum over the entries, because the order in which threads load objects and bind slots does not
 * matter. An entry counts once, however often it was unloaded and loaded again. */

static uint64_t mix(uint64_t h, const char *text) {
    size_t n = text ? wc_str_length(text) : 0;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001B3U;
    /* An end mark that no text contains: "ab" "c" differs from "a" "bc", NULL from "". */
    return (h ^ (text ? 0x100U : 0x200U)) * 0x100000001B3U;
}

/* What the object is, without its directory. */
static uint64_t object_mark(const struct wc_object *o) {
    const char *path = wc_real_path_of(o);
    uint64_t h = 0xCBF29CE484222325U;

    h = mix(h, wc_enum_word(WC_ENUM_role, o->r.role));
    h = mix(h, o->r.part);
    h = mix(h, path ? wc_base_name(path) : o->r.soname);
    h = mix(h, o->r.soname);
    h = mix(h, o->r.version);
    h = mix(h, o->r.build_id);
    h = mix(h, o->r.installation);
    h = mix(h, o->r.installation_version);
    return (h ^ h >> 29) * 0xBF58476D1CE4E5B9U;
}

static uint64_t end_mark(const struct wc_stack *s, int64_t object, const char *path) {
    const struct wc_object *o = wc_stack_object(s, object);

    return o ? object_mark(o) : mix(0, path ? wc_base_name(path) : NULL);
}

/* Only host and target count, not how the binding was made. */
static uint64_t binding_mark(const struct wc_stack *s, const struct wc_binding_record *b) {
    uint64_t host = end_mark(s, b->host, b->host_path);

    return (host ^ (end_mark(s, b->target, b->target_path) * 3)) * 0x9E3779B97F4A7C15U;
}

void wc_stack_fingerprint(const struct wc_stack *s, char out[17]) {
    static const char hex[] = "0123456789abcdef";
    uint64_t sum = 0;

    WC_EACH(o, s->objects)
        if (o->r.role != WC_role_OTHER &&
            WC_FIRST(e, s->objects,
                     e->r.role == o->r.role &&
                         wc_str_same(wc_real_path_of(e), wc_real_path_of(o)) &&
                         object_mark(e) == object_mark(o)) == o)
            sum += object_mark(o);
    WC_EACH(b, s->bindings)
        if (b->r.target != WC_NULL &&
            WC_FIRST(e, s->bindings,
                     wc_str_same(e->r.host_path, b->r.host_path) &&
                         wc_str_same(e->r.target_path, b->r.target_path) &&
                         binding_mark(s, &e->r) == binding_mark(s, &b->r)) == b)
            sum += binding_mark(s, &b->r);
    for (size_t i = 0; i < 16; i++)
        out[i] = hex[sum >> (60 - 4 * i) & 15];
    out[16] = '\0';
}
