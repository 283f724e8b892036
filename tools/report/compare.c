/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "tools/observe/preload.h"

#define NO_PARTNER SIZE_MAX /* all bits set */

/* Adds if they differ, behind all that come no later. */
static void hold(struct comparison *c, enum difference_kind kind, const char *what,
                 const char *attribute, const char *a, const char *b) {
    struct wc_arena *keep = &c->memory.arena;
    size_t at = c->n;

    if (wc_str_same(a, b))
        return;
    MUST_ADD(c->p, c->n);
    for (; at > 0 && c->p[at - 1].kind > kind; at--)
        c->p[at] = c->p[at - 1];
    c->p[at] = (struct difference){kind, wc_arena_string(keep, what), attribute,
                                   wc_arena_string(keep, a), wc_arena_string(keep, b)};
}

/* Takes a and b. */
static void hold_made(struct comparison *c, enum difference_kind kind, const char *what,
                      const char *attribute, char *a, char *b) {
    hold(c, kind, what, attribute, a, b);
    free(a);
    free(b);
}

/* ---- what a lock does not say ---- */

struct sides {
    const struct source *a, *b;
};

static bool is_lock(const struct source *s) {
    return s->type == SOURCE_LOCK;
}

/* Takes from the other side what a lock does not say: what is as in an empty record. */
static void forget(enum wc_kind kind, const void *said, void *other) {
    static const size_t sizes[] = {[WC_FIELD_STR] = sizeof(char *),
                                   [WC_FIELD_INT] = sizeof(int64_t),
                                   [WC_FIELD_ENUM] = sizeof(enum wc_role),
                                   [WC_FIELD_STRS] = sizeof(struct wc_strings),
                                   [WC_FIELD_FACTS] = 0};
    struct wc_record nothing;
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);

    wc_record_begin(&nothing, kind);
    for (; n > 0; n--, f++) {
        const void *empty = (const char *)&nothing.u + f->offset;
        if (memcmp((const char *)said + f->offset, empty, sizes[f->type]) == 0)
            memcpy((char *)other + f->offset, empty, sizes[f->type]);
    }
}

/* Copies x and y without what the other side, a lock, does not say. */
#define COMPARABLE(sides, kind, x, y, x_copy, y_copy)                                              \
    struct wc_##kind##_record x_copy = *(x), y_copy = *(y);                                        \
    if (is_lock((sides)->a))                                                                       \
        forget(WC_KIND_##kind, x, &(y_copy));                                                      \
    if (is_lock((sides)->b))                                                                       \
    forget(WC_KIND_##kind, y, &(x_copy))

/* ---- which of the one belongs to which of the other ---- */

struct things { /* packages, objects: what there may be several of, n on side a, m on b */
    size_t n, m;
    bool (*counterparts)(const struct sides *s, size_t i, size_t j);
    void (*compare)(struct comparison *c, const struct sides *s, size_t i, size_t j);
    /* One that the other side lacks, in words; *what names it. NULL: not a difference. */
    char *(*lacking)(const struct source *of, const struct source *other, size_t i,
                     enum difference_kind *kind, const char **what);
};

struct pairs {
    const struct things *things;
    const struct sides *s;
    size_t *of_a, *of_b; /* what belongs to each; NO_PARTNER */
    bool *tried;         /* of b */
};

static void pair(struct pairs *p, size_t i, size_t j) {
    p->of_a[i] = j;
    p->of_b[j] = i;
}

static bool are_same(const struct pairs *p, size_t i, size_t j) {
    if (!p->things->counterparts(p->s, i, j))
        return false;
    ENDED_BY(comparison_end) struct comparison c = {.memory = HEAP_ARENA(c.memory)};
    p->things->compare(&c, p->s, i, j);
    return c.n == 0;
}

/* Maximum bipartite matching by augmenting paths: a lock with few facts is the same as several, and
 * would else keep the only one that another lock fits. */
static bool find_same(struct pairs *p, size_t i) {
    for (size_t j = 0; j < p->things->m; j++)
        if (p->of_b[j] == NO_PARTNER && are_same(p, i, j)) {
            pair(p, i, j);
            return true;
        }
    for (size_t j = 0; j < p->things->m; j++) {
        if (p->tried[j] || !are_same(p, i, j))
            continue;
        p->tried[j] = true;
        if (find_same(p, p->of_b[j])) {
            pair(p, i, j);
            return true;
        }
    }
    return false;
}

/* Of several that are counterparts, the same ones first: in which order they came says nothing.
 * What was tried without success stays tried, until something is moved. */
static void compare_things(struct comparison *c, const struct sides *s,
                           const struct things *things) {
    struct pairs p = {things, s, must_allocate(things->n * sizeof(*p.of_a)),
                      must_allocate(things->m * sizeof(*p.of_b)), must_allocate(things->m)};
    enum difference_kind kind;
    const char *what;
    char *text;

    memset(p.of_a, 0xff, things->n * sizeof(*p.of_a));
    memset(p.of_b, 0xff, things->m * sizeof(*p.of_b));
    for (size_t i = 0; i < things->n; i++)
        if (find_same(&p, i))
            memset(p.tried, 0, things->m);
    for (size_t i = 0; i < things->n; i++)
        for (size_t j = 0; p.of_a[i] == NO_PARTNER && j < things->m; j++)
            if (p.of_b[j] == NO_PARTNER && things->counterparts(s, i, j))
                pair(&p, i, j);
    for (size_t i = 0; i < things->n; i++)
        if (p.of_a[i] != NO_PARTNER)
            things->compare(c, s, i, p.of_a[i]);
        else if ((text = things->lacking(s->a, s->b, i, &kind, &what)))
            hold_made(c, kind, what, NULL, text, NULL);
    for (size_t j = 0; j < things->m; j++)
        if (p.of_b[j] == NO_PARTNER && (text = things->lacking(s->b, s->a, j, &kind, &what)))
            hold_made(c, kind, what, NULL, NULL, text);
    free(p.of_a);
    free(p.of_b);
    free(p.tried);
}

/* ---- the environment ---- */

char *compare_value(const struct wc_stack *s, const char *variable) {
    static const char *const starts[] = {"RANK=",       "LOCAL_RANK=",    "WORLD_SIZE=",
                                         "GROUP_RANK=", "SLURM_",         "OMPI_COMM_WORLD_",
                                         "PMI_",        "WHICHCUDNN_RUN_"};

    OWNED char *name = must_format("%.*s", (int)strcspn(variable, "="), variable);
    const char *value = wc_variable(s, name);

    if (!value || WC_ANY(start, WC_ROWS(starts), wc_str_starts(variable, *start)))
        return NULL;
    return strcmp(name, "LD_PRELOAD") == 0
               ? preload_without(value, s->process.shim_path ?: "libwhichcudnn.so")
               : must_copy(value);
}

/* variable: "NAME=anything". at_end: only what the first side does not have. */
static void compare_variable(struct comparison *c, const struct sides *s, const char *variable,
                             bool at_end) {
    OWNED char *name = must_format("%.*s", (int)strcspn(variable, "="), variable);
    OWNED char *ours = compare_value(&s->a->stack, variable);
    OWNED char *theirs = compare_value(&s->b->stack, variable);

    if (!(at_end && ours) && (ours || !s->a->in_part[WC_KIND_process]) &&
        (theirs || !s->b->in_part[WC_KIND_process]))
        hold(c, wc_str_ends(name, "_VISIBLE_DEVICES") ? DIFFERENCE_DRIVER : DIFFERENCE_ENVIRONMENT,
             name, NULL, ours, theirs);
}

/* ---- the machine ---- */

static char *count_text(int64_t n) {
    return n == WC_NULL ? NULL : must_format("%lld", (long long)n);
}

static void compare_machines(struct comparison *c, const struct sides *s) {
    COMPARABLE(s, machine, &s->a->stack.machine, &s->b->stack.machine, a, b);

    if (!s->a->stack.has_machine || !s->b->stack.has_machine)
        return;
    hold(c, DIFFERENCE_DRIVER, "driver", NULL, a.driver, b.driver);
    /* Only `run` asks for names, so a list may be missing where GPUs are. */
    if (a.gpus.n > 0 && b.gpus.n > 0)
        hold_made(c, DIFFERENCE_DRIVER, "GPUs", NULL, joined(&a.gpus, "; "), joined(&b.gpus, "; "));
    hold_made(c, DIFFERENCE_DRIVER, "number of GPU devices", NULL, count_text(a.gpu_devices),
              count_text(b.gpu_devices));
    hold(c, DIFFERENCE_SURROUNDINGS, "architecture", NULL, a.architecture, b.architecture);
    hold(c, DIFFERENCE_SURROUNDINGS, "container", NULL, a.container, b.container);
    hold(c, DIFFERENCE_SURROUNDINGS, "glibc", NULL, a.glibc, b.glibc);
    hold(c, DIFFERENCE_SURROUNDINGS, "operating system", NULL, a.operating_system,
         b.operating_system);
    hold(c, DIFFERENCE_SURROUNDINGS, "kernel", NULL, a.kernel, b.kernel);
}

/* ---- packages ---- */

static const struct wc_package_record *package_at(const struct source *s, size_t i) {
    return &s->stack.packages.p[i].r;
}

/* One without a name cannot be distinguished. */
static bool packages_are_counterparts(const struct sides *s, size_t i, size_t j) {
    COMPARABLE(s, package, package_at(s->a, i), package_at(s->b, j), x, y);

    return x.package && wc_str_same(x.package, y.package) &&
           x.installation_kind == y.installation_kind;
}

static void compare_package(struct comparison *c, const struct sides *s, size_t i, size_t j) {
    COMPARABLE(s, package, package_at(s->a, i), package_at(s->b, j), x, y);

    hold(c, DIFFERENCE_PACKAGE, x.package, "version", x.package_version, y.package_version);
    hold(c, DIFFERENCE_PACKAGE, x.package, "state",
         wc_enum_word(WC_ENUM_package_state, x.package_state),
         wc_enum_word(WC_ENUM_package_state, y.package_state));
}

static char *lacking_package(const struct source *of, const struct source *other, size_t i,
                             enum difference_kind *kind, const char **what) {
    const struct wc_package_record *p = package_at(of, i);

    *kind = DIFFERENCE_PACKAGE;
    *what = p->package;
    if (!p->package || other->in_part[WC_KIND_package])
        return NULL;
    return must_copy(p->package_version ?: "there");
}

/* ---- libraries ---- */

/* The name up to ".so": libcudnn.so.8 is the counterpart of libcudnn.so.9. */
static bool same_stem(const struct wc_object_record *a, const struct wc_object_record *b) {
    const char *x = library_name(a), *y = library_name(b);
    const char *x_end = strstr(x, ".so"), *y_end = strstr(y, ".so");
    size_t n = x_end ? (size_t)(x_end - x) : strlen(x);

    return n == (y_end ? (size_t)(y_end - y) : strlen(y)) && memcmp(x, y, n) == 0;
}

static const struct wc_object_record *object_at(const struct source *s, size_t i) {
    return &s->stack.objects.p[i].r;
}

/* A lock may not say what an object is, but it has its name. */
static bool objects_are_counterparts(const struct sides *s, size_t i, size_t j) {
    const struct wc_object_record *x = object_at(s->a, i), *y = object_at(s->b, j);
    bool same_part = x->role == y->role && wc_str_same(x->part, y->part);

    if (!library_counts(x) || !library_counts(y))
        return false;
    if (same_part && (x->role == WC_role_FACADE || x->part))
        return true;
    return (same_part || is_lock(s->a) || is_lock(s->b)) && same_stem(x, y);
}

static enum difference_kind kind_of(const struct wc_object_record *o) {
    return o->role == WC_role_HOST ? DIFFERENCE_HOST : DIFFERENCE_LIBRARY;
}

static void compare_searches(struct comparison *c, const struct sides *s, const char *name,
                             const struct wc_search_record *x, const struct wc_search_record *y) {
    if (x && y) {
        COMPARABLE(s, search, x, y, a, b);
        hold_made(c, DIFFERENCE_FOUND, name, "rule", library_rule(&a, true),
                  library_rule(&b, true));
    } else if ((x && !is_lock(s->b)) || (y && !is_lock(s->a))) {
        hold_made(c, DIFFERENCE_FOUND, name, "rule", library_rule(x, true), library_rule(y, true));
    }
}

/* A build is distinguished only where the version is the same. */
static void compare_object(struct comparison *c, const struct sides *s, size_t i, size_t j) {
    const struct wc_object_record *a = object_at(s->a, i), *b = object_at(s->b, j);
    const char *name = library_name(a);

    COMPARABLE(s, object, a, b, x, y);
    /* Not older, not newer than: of a version that is not known, and then in its place. */
    if (is_lock(s->a) && (a->version_floor || a->version_ceiling))
        y.version = b->version;
    if (is_lock(s->b) && (b->version_floor || b->version_ceiling))
        x.version = a->version;
    compare_searches(c, s, name, library_search(&s->a->stack, a), library_search(&s->b->stack, b));
    hold_made(c, DIFFERENCE_FOUND, name, "installation", library_installation(&x),
              library_installation(&y));
    size_t before = c->n;
    if (strcmp(name, library_name(b)) != 0)
        hold(c, kind_of(a), name, "SONAME", x.soname, y.soname);
    hold_made(c, kind_of(a), name, "version", library_version(&x), library_version(&y));
    if (c->n == before && x.build_id && y.build_id)
        hold(c, kind_of(a), name, "build-id", x.build_id, y.build_id);
}

static char *lacking_object(const struct source *of, const struct source *other, size_t i,
                            enum difference_kind *kind, const char **what) {
    const struct wc_object_record *o = object_at(of, i);
    OWNED char *version = library_version(o);

    *kind = kind_of(o);
    *what = library_name(o);
    /* What was unloaded again, only a log can know. */
    if (!library_counts(o) ||
        (is_lock(other) ? other->in_part[WC_KIND_object] : !o->mapped && other->type != SOURCE_LOG))
        return NULL;
    return must_format("%s%s%s", version, version ? ", " : "", library_path(o));
}

/* ---- what each source may have several of, compared as texts ---- */

struct text {
    const char *what, *text;
    const struct wc_demand_record *demand; /* that it names; else NULL */
};

struct texts {
    const struct source *of;
    struct wc_arena *keep;
    struct text *p;
    size_t n;
};

static bool has_text(const struct texts *list, const struct text *x, const struct source *of) {
    const struct sides s = {of, list->of};

    WC_EACH(t, *list) {
        if (strcmp(t->what, x->what) != 0)
            continue;
        if (!x->demand && strcmp(t->text, x->text) == 0)
            return true;
        if (!x->demand)
            continue;
        COMPARABLE(&s, demand, x->demand, t->demand, a, b);
        if (wc_str_same(a.spec, b.spec) && wc_str_same(a.built, b.built))
            return true;
    }
    return false;
}

static const char *other_text(const struct texts *list, const struct texts *than,
                              const char *what) {
    const struct text *t =
        WC_FIRST(one, *list, strcmp(one->what, what) == 0 && !has_text(than, one, list->of));

    return t ? t->text : NULL;
}

/* By its path where it is not an object, or not a known one; NULL: not known. */
static const char *name_of(const struct wc_stack *s, int64_t object, const char *path) {
    const struct wc_object *o = wc_stack_object(s, object);

    if (o && library_counts(&o->r))
        return library_name(&o->r);
    return wc_base_name(path);
}

static void list_demands(struct texts *t) {
    const struct wc_stack *s = &t->of->stack;

    WC_EACH(d, s->demands) {
        const char *host = name_of(s, d->r.host, d->r.host_path);
        if ((d->r.spec || d->r.built || is_lock(t->of)) &&
            d->r.demand_kind != WC_demand_kind_EXPECTATION)
            *MUST_ADD(t->p, t->n) =
                (struct text){wc_arena_format(t->keep, "what %s requires", host ?: "a host"),
                              wc_arena_format(t->keep, "%s%s%s", d->r.spec,
                                              d->r.built ? " built with " : "", d->r.built),
                              &d->r};
    }
}

static void list_bindings(struct texts *t) {
    const struct wc_stack *s = &t->of->stack;

    WC_EACH(b, s->bindings) {
        const char *host = name_of(s, b->r.host, b->r.host_path);
        const char *target = name_of(s, b->r.target, b->r.target_path);
        if (target)
            *MUST_ADD(t->p, t->n) = (struct text){
                wc_arena_format(t->keep, "what %s is bound to", host ?: "a host"), target, NULL};
    }
}

static void list_failures(struct texts *t) {
    WC_EACH(f, t->of->stack.failures) {
        const char *function = f->r.function, *name = f->r.name;
        const char *file = name ? wc_base_name(name) : function ? "" : "the program itself";
        *MUST_ADD(t->p, t->n) = (struct text){
            wc_arena_format(t->keep, "%s%s%s", function, function && name ? " in " : "", file),
            "not found", NULL};
    }
}

static void list_calls(struct texts *t) {
    WC_EACH(e, t->of->stack.calls) {
        if (e->r.phase == WC_phase_AFTER && e->r.status != WC_NULL && e->r.function)
            *MUST_ADD(t->p, t->n) = (struct text){
                e->r.function,
                e->r.status_name ?: wc_arena_format(t->keep, "status %jd", e->r.status), NULL};
    }
}

/* What is on only one side; where both have another text of the same thing, these two. */
static void compare_lists(struct comparison *c, const struct sides *s, enum difference_kind kind,
                          void (*list)(struct texts *t), enum wc_kind of) {
    struct texts a = {s->a, &c->memory.arena, NULL, 0}, b = {s->b, &c->memory.arena, NULL, 0};
    const char *other;

    list(&a);
    list(&b);
    WC_EACH(t, a)
        if (!has_text(&b, t, s->a) && ((other = other_text(&b, &a, t->what)) || !s->b->in_part[of]))
            hold(c, kind, t->what, NULL, t->text, other);
    WC_EACH(t, b)
        if (!s->a->in_part[of] && !has_text(&a, t, s->b) && !other_text(&a, &b, t->what))
            hold(c, kind, t->what, NULL, NULL, t->text);
    free(a.p);
    free(b.p);
}

/* ---- all of it ---- */

/* Of a process they are in its memory, which may not be readable; a lock may be of one. */
static bool sees_bindings(const struct source *s) {
    return s->type == SOURCE_LOG || s->stack.bindings.n > 0;
}

void compare(struct comparison *c, const struct source *a, const struct source *b) {
    const struct sides s = {a, b};
    const struct things packages = {a->stack.packages.n, b->stack.packages.n,
                                    packages_are_counterparts, compare_package, lacking_package};
    const struct things objects = {a->stack.objects.n, b->stack.objects.n, objects_are_counterparts,
                                   compare_object, lacking_object};

    *c = (struct comparison){.memory = HEAP_ARENA(c->memory)};
    if (a->stack.has_process && b->stack.has_process) {
        compare_variable(c, &s, "LD_PRELOAD=", false);
        WC_EACH(v, a->stack.process.environment)
            if (!wc_str_starts(*v, "LD_PRELOAD="))
                compare_variable(c, &s, *v, false);
        WC_EACH(v, b->stack.process.environment)
            if (!wc_str_starts(*v, "LD_PRELOAD="))
                compare_variable(c, &s, *v, true);
    }
    compare_things(c, &s, &packages);
    compare_things(c, &s, &objects);
    compare_lists(c, &s, DIFFERENCE_HOST, list_demands, WC_KIND_demand);
    compare_machines(c, &s);
    if (sees_bindings(a) && sees_bindings(b))
        compare_lists(c, &s, DIFFERENCE_BINDING, list_bindings, WC_KIND_binding);
    if (a->type == SOURCE_LOG && b->type == SOURCE_LOG) {
        compare_lists(c, &s, DIFFERENCE_FAILURE, list_failures, WC_KIND_failure);
        compare_lists(c, &s, DIFFERENCE_CALL, list_calls, WC_KIND_call);
    }
}

void comparison_end(struct comparison *c) {
    free(c->p);
    heap_arena_end(&c->memory);
}

const struct difference_words difference_words[] = {
    [DIFFERENCE_ENVIRONMENT] = {"environment", "environment"},
    [DIFFERENCE_PACKAGE] = {"package", "packages"},
    [DIFFERENCE_HOST] = {"host", "hosts, and what they require"},
    [DIFFERENCE_FOUND] = {"found", "how libraries were found, and their packages"},
    [DIFFERENCE_LIBRARY] = {"library", "libraries"},
    [DIFFERENCE_BINDING] = {"binding", "which host uses which library"},
    [DIFFERENCE_DRIVER] = {"driver", "driver and GPUs"},
    [DIFFERENCE_FAILURE] = {"failure", "requests that failed"},
    [DIFFERENCE_CALL] = {"call", "calls"},
    [DIFFERENCE_SURROUNDINGS] = {"computer", "machine"},
};

const char *difference_value(const char *value) {
    return !value ? "none" : *value ? value : "empty";
}

char *difference_text(const struct difference *d) {
    return must_format("%s%s%s: %s, not %s", d->attribute, d->attribute ? " of " : "", d->what,
                       difference_value(d->b), difference_value(d->a));
}
