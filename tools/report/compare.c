/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "tools/observe/preload.h"

/* What is compared of a thing, in one text. */
struct fact {
    enum difference_kind kind;
    const char *attribute;
    const char *text;    /* NULL: none, or not known */
    const char *said[3]; /* by which it differs; a lock may lack each of them */
    bool is_last;        /* compared only where both have it, and nothing before it differs */
};

/* A variable, a library, what a host requires: what a process may have several of. */
struct thing {
    const struct source *of;
    const char *what, *key, *label; /* counterparts have the same key, or the same label */
    const char *text;               /* of one without a counterpart */
    unsigned unknown_to;            /* bits of the types of sources that cannot have it */
    struct fact facts[5];
    size_t n;
    struct thing *partner; /* on the other side; NULL: none */
    bool tried;
};

struct things {
    const struct source *of;
    struct wc_arena *keep;
    struct thing *p;
    size_t n;
};

#define EACH_THING(x, list) for (struct thing *x = (list)->p; x && x != (list)->p + (list)->n; x++)

/* ---- what there is ---- */

static void add_fact(struct thing *t, enum difference_kind kind, const char *attribute,
                     const char *text, const char *a, const char *b, const char *c) {
    t->facts[t->n++] = (struct fact){kind, attribute, text, {a, b, c}, false};
}

static struct thing *add(struct things *list, const char *what, const char *text) {
    struct thing *t = MUST_ADD(list->p, list->n);

    *t = (struct thing){.of = list->of, .what = what, .key = what, .text = text};
    return t;
}

/* One that is nothing but a text; NULL: there is none. */
static void add_text(struct things *list, enum difference_kind kind, const char *what,
                     const char *text) {
    if (text)
        add_fact(add(list, what, text), kind, NULL, text, text, NULL, NULL);
}

/* Takes the text. */
static const char *keep(const struct things *list, char *text) {
    OWNED char *taken = text;

    return wc_arena_string(list->keep, taken);
}

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

static void list_variables(struct things *list) {
    WC_EACH(v, list->of->stack.process.environment) {
        const char *name = wc_arena_string_n(list->keep, *v, strcspn(*v, "="));
        add_text(list,
                 wc_str_ends(name, "_VISIBLE_DEVICES") ? DIFFERENCE_DRIVER : DIFFERENCE_ENVIRONMENT,
                 name, keep(list, compare_value(&list->of->stack, *v)));
    }
}

static void list_packages(struct things *list) {
    WC_EACH(package, list->of->stack.packages) {
        const struct wc_package_record *p = &package->r;
        const char *kind = wc_enum_word(WC_ENUM_installation_kind, p->installation_kind),
                   *version = p->package_version,
                   *state = wc_enum_word(WC_ENUM_package_state, p->package_state);
        if (!p->package) /* it cannot be distinguished */
            continue;
        struct thing *t = add(list, p->package, version ?: "there");
        add_fact(t, DIFFERENCE_PACKAGE, "kind", kind, kind, NULL, NULL);
        add_fact(t, DIFFERENCE_PACKAGE, "version", version, version, NULL, NULL);
        add_fact(t, DIFFERENCE_PACKAGE, "state", state, state, NULL, NULL);
    }
}

/* libcudnn.so.8 is the counterpart of libcudnn.so.9. */
static void list_objects(struct things *list) {
    WC_EACH(object, list->of->stack.objects) {
        const struct wc_object_record *o = &object->r;
        if (!library_counts(o))
            continue;
        const struct wc_search_record *f = library_search(&list->of->stack, o);
        const char *name = library_name(o), *end = strstr(name, ".so");
        const char *version = keep(list, library_version(o));
        const enum difference_kind kind =
            o->role == WC_role_HOST ? DIFFERENCE_HOST : DIFFERENCE_LIBRARY;
        struct thing *t = add(
            list, name,
            wc_arena_format(list->keep, "%s%s%s", version, version ? ", " : "", library_path(o)));
        if (end)
            t->key = wc_arena_string_n(list->keep, name, (size_t)(end - name));
        if (o->role == WC_role_FACADE || o->part)
            t->label = library_label(o);
        if (!o->mapped) /* what was unloaded again, only a log can know */
            t->unknown_to = 1u << SOURCE_PROCESS | 1u << SOURCE_SCAN;
        add_fact(t, kind, "SONAME", name, name, NULL, NULL);
        if (o->version)
            add_fact(t, kind, "version", version, version, NULL, NULL);
        else
            add_fact(t, kind, "version", version, NULL, o->version_floor, o->version_ceiling);
        add_fact(t, kind, "build-id", o->build_id, o->build_id, NULL, NULL);
        t->facts[t->n - 1].is_last = true;
        add_fact(t, DIFFERENCE_FOUND, "rule", keep(list, library_rule(f, true)),
                 f ? wc_enum_word(WC_ENUM_search_rule, f->rule) : NULL,
                 f ? wc_base_name(f->of) : NULL, f ? f->element : NULL);
        add_fact(t, DIFFERENCE_FOUND, "installation", keep(list, library_installation(o)),
                 wc_enum_word(WC_ENUM_installation_kind, o->installation_kind), o->installation,
                 o->installation_version);
    }
}

/* Of a file that is not an object its own name; NULL: not known. */
static const char *name_of(const struct wc_stack *s, int64_t object, const char *path) {
    const struct wc_object *own =
        WC_FIRST(o, s->objects, library_counts(&o->r) && wc_means(o, object, path));

    return own ? library_name(&own->r) : wc_base_name(path);
}

static void list_demands(struct things *list) {
    WC_EACH(demand, list->of->stack.demands) {
        const struct wc_demand_record *d = &demand->r;
        const char *host = name_of(&list->of->stack, d->host, d->host_path);
        const char *text = wc_arena_format(list->keep, "%s%s%s", d->spec,
                                           d->built ? " built with " : "", d->built);
        const char *what = wc_arena_format(list->keep, "what %s requires", host ?: "a host");
        if ((*text || list->of->type == SOURCE_LOCK) &&
            d->demand_kind != WC_demand_kind_EXPECTATION)
            add_fact(add(list, what, text), DIFFERENCE_HOST, NULL, text, d->spec, d->built, NULL);
    }
}

static void list_machine(struct things *list) {
    const struct wc_machine_record *m = &list->of->stack.machine;

    add_text(list, DIFFERENCE_DRIVER, "driver", m->driver);
    /* Only `run` asks for names, so a list may be missing where GPUs are. */
    if (m->gpus.n > 0) {
        add_text(list, DIFFERENCE_DRIVER, "GPUs", keep(list, joined(&m->gpus, "; ")));
        list->p[list->n - 1].unknown_to = ~0u;
    }
    if (m->gpu_devices != WC_NULL)
        add_text(list, DIFFERENCE_DRIVER, "number of GPU devices",
                 wc_arena_format(list->keep, "%jd", m->gpu_devices));
    add_text(list, DIFFERENCE_SURROUNDINGS, "architecture", m->architecture);
    add_text(list, DIFFERENCE_SURROUNDINGS, "container", m->container);
    add_text(list, DIFFERENCE_SURROUNDINGS, "glibc", m->glibc);
    add_text(list, DIFFERENCE_SURROUNDINGS, "operating system", m->operating_system);
    add_text(list, DIFFERENCE_SURROUNDINGS, "kernel", m->kernel);
}

static void list_bindings(struct things *list) {
    const struct wc_stack *s = &list->of->stack;

    WC_EACH(b, s->bindings)
        add_text(list, DIFFERENCE_BINDING,
                 wc_arena_format(list->keep, "what %s is bound to",
                                 name_of(s, b->r.host, b->r.host_path) ?: "a host"),
                 name_of(s, b->r.target, b->r.target_path));
}

static void list_failures(struct things *list) {
    WC_EACH(f, list->of->stack.failures) {
        const char *function = f->r.function, *name = f->r.name;
        const char *file = name ? wc_base_name(name) : function ? "" : "the program itself";
        add_text(
            list, DIFFERENCE_FAILURE,
            wc_arena_format(list->keep, "%s%s%s", function, function && name ? " in " : "", file),
            "not found");
    }
}

static void list_calls(struct things *list) {
    WC_EACH(e, list->of->stack.calls)
        if (e->r.phase == WC_phase_AFTER && e->r.status != WC_NULL && e->r.function)
            add_text(list, DIFFERENCE_CALL, e->r.function,
                     e->r.status_name ?: wc_arena_format(list->keep, "status %jd", e->r.status));
}

/* ---- which of the one belongs to which of the other ---- */

static bool are_counterparts(const struct thing *x, const struct thing *y) {
    return strcmp(x->key, y->key) == 0 || (x->label && wc_str_same(x->label, y->label));
}

/* What a lock does not say does not differ. */
static bool differ(const struct thing *x, const struct thing *y, size_t fact) {
    const struct fact *f = &x->facts[fact], *g = &y->facts[fact];

    for (size_t i = 0; i < 3; i++)
        if (!wc_str_same(f->said[i], g->said[i]) && (f->said[i] || x->of->type != SOURCE_LOCK) &&
            (g->said[i] || y->of->type != SOURCE_LOCK))
            return !f->is_last || (f->text && g->text);
    return false;
}

static bool are_same(const struct thing *x, const struct thing *y) {
    bool same = are_counterparts(x, y);

    for (size_t i = 0; same && i < x->n; i++)
        same = !differ(x, y, i);
    return same;
}

static void pair(struct thing *x, struct thing *y) {
    x->partner = y;
    y->partner = x;
}

/* Maximum bipartite matching by augmenting paths: a lock with few facts is the same as several, and
 * would else keep the only one that another lock fits. */
static bool find_same(struct thing *x, struct things *others) {
    for (int taken = 0; taken < 2; taken++)
        EACH_THING(y, others) {
            if ((y->partner != NULL) != taken || y->tried || !are_same(x, y))
                continue;
            y->tried = taken;
            if (!taken || find_same(y->partner, others)) {
                pair(x, y);
                return true;
            }
        }
    return false;
}

/* Of several that are counterparts, the same ones first: in which order they came says nothing.
 * What was tried without success stays tried, until something is moved. */
static void find_partners(struct things *a, struct things *b, bool is_set) {
    EACH_THING(x, a)
        if (is_set) {
            EACH_THING(y, b)
                if (are_same(x, y))
                    pair(x, y);
        } else if (find_same(x, b)) {
            EACH_THING(y, b)
                y->tried = false;
        }
    EACH_THING(x, a)
        EACH_THING(y, b)
            if (!x->partner && !y->partner && are_counterparts(x, y))
                pair(x, y);
}

/* ---- what differs ---- */

/* Adds if they differ, behind all that come no later. */
static void hold(struct comparison *c, enum difference_kind kind, const char *what,
                 const char *attribute, const char *a, const char *b) {
    size_t at = c->n;

    if (wc_str_same(a, b))
        return;
    MUST_ADD(c->p, c->n);
    for (; at > 0 && c->p[at - 1].kind > kind; at--)
        c->p[at] = c->p[at - 1];
    c->p[at] = (struct difference){kind, what, attribute, a, b};
}

static void tell_pair(struct comparison *c, const struct thing *x, const struct thing *y) {
    const size_t before = c->n;

    for (size_t i = 0; i < x->n; i++)
        if (differ(x, y, i) && (!x->facts[i].is_last || c->n == before))
            hold(c, x->facts[i].kind, x->what, x->facts[i].attribute, x->facts[i].text,
                 y->facts[i].text);
}

static bool lacks(const struct source *s, enum wc_kind kind, const struct thing *t) {
    return !t->partner && !s->in_part[kind] && !(t->unknown_to & 1u << s->type);
}

static bool knows(const struct source *s, enum wc_kind kind) {
    switch (kind) {
    case WC_KIND_process:
        return s->stack.has_process;
    case WC_KIND_machine:
        return s->stack.has_machine;
    case WC_KIND_binding: /* of a process in its memory, which may not be readable */
        return s->type == SOURCE_LOG || s->stack.bindings.n > 0;
    case WC_KIND_failure:
    case WC_KIND_call:
        return s->type == SOURCE_LOG;
    default:
        return true;
    }
}

static const struct section {
    enum wc_kind kind;
    void (*list)(struct things *list);
    bool is_set; /* how many are the same says nothing */
} sections[] = {
    {WC_KIND_process, list_variables, true}, {WC_KIND_package, list_packages, false},
    {WC_KIND_object, list_objects, false},   {WC_KIND_demand, list_demands, true},
    {WC_KIND_machine, list_machine, true},   {WC_KIND_binding, list_bindings, true},
    {WC_KIND_failure, list_failures, true},  {WC_KIND_call, list_calls, true},
};

void compare(struct comparison *c, const struct source *a, const struct source *b) {
    *c = (struct comparison){.memory = HEAP_ARENA(c->memory)};
    WC_EACH_ROW(row, sections) {
        struct things of_a = {a, &c->memory.arena, NULL, 0}, of_b = {b, &c->memory.arena, NULL, 0};
        if (!knows(a, row->kind) || !knows(b, row->kind))
            continue;
        row->list(&of_a);
        row->list(&of_b);
        find_partners(&of_a, &of_b, row->is_set);
        EACH_THING(t, &of_a)
            if (t->partner)
                tell_pair(c, t, t->partner);
            else if (lacks(b, row->kind, t))
                hold(c, t->facts[0].kind, t->what, NULL, t->text, NULL);
        EACH_THING(t, &of_b)
            if (lacks(a, row->kind, t))
                hold(c, t->facts[0].kind, t->what, NULL, NULL, t->text);
        free(of_a.p);
        free(of_b.p);
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
