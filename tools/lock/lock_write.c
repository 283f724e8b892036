/* SPDX-License-Identifier: Apache-2.0 */
/* A process into a lock: see lock.h. */
#include <stdlib.h>
#include <string.h>

#include "lock.h"
#include "tools/log/record_json.h"
#include "tools/report/compare.h"
#include "tools/report/library.h"
#include "tools/util/terminal.h"

struct named { /* an object that counts, and how the lock calls it */
    const struct wc_object_record *o;
    char *key;
};

struct writing {
    json_t *lock;
    const struct source *source;
    const struct wc_stack *s;
    bool paths;
    struct named *objects;
    size_t n;
};

/* ---- facts ---- */

static void add_fact(json_t *facts, const json_t *record, const char *field) {
    json_t *value = json_object_get(record, field);

    if (json_is_string(value) || json_is_true(value))
        json_object_set(facts, field, value);
}

/* What is known of it and lasts. New reference. */
static json_t *facts_of(enum wc_kind kind, const void *record) {
    json_t *all = record_to_json(kind, record, NULL), *facts = json_object();

#define LOCKED(k, field)                                                                           \
    if (kind == WC_KIND_##k)                                                                       \
        add_fact(facts, all, #field);
#include "lock.def"
    json_decref(all);
    return facts;
}

static json_t *machine_facts(const struct wc_machine_record *machine) {
    json_t *facts = facts_of(WC_KIND_machine, machine);
    char *gpus = compare_list_text(&machine->gpus);

    if (gpus)
        json_object_set_new(facts, "gpus", text_to_json(gpus));
    free(gpus);
    return facts;
}

/* The object that stands there, made where there is none. */
static json_t *object_in(json_t *object, const char *key) {
    if (!json_object_get(object, key))
        json_object_set_new(object, key, json_object());
    return json_object_get(object, key);
}

/* As long as the lock has as many of them, there are no others. */
static void add_count(const struct writing *w, const char *section, size_t n, bool in_part) {
    if (!in_part)
        json_object_set_new(object_in(w->lock, "complete"), section, json_integer((json_int_t)n));
}

/* ---- names ---- */

static bool has_number(const char *name) {
    const char *open = strrchr(name, '(');
    size_t digits = open ? strspn(open + 1, "0123456789") : 0;

    return digits > 0 && open > name && open[-1] == ' ' && strcmp(open + 1 + digits, ")") == 0;
}

/* "libcudnn.so.9", and "libcudnn.so.9 (2)" for the next of that name: the last number is none of
 * the name, so one that ends so gets one, too. The caller frees. */
static char *new_key(const json_t *taken, const json_t *also_taken, const char *name) {
    json_t *text = text_to_json(name);
    const char *sound = json_string_value(text);
    char *key = has_number(sound) ? must_format("%s (1)", sound) : must_copy(sound);

    for (size_t i = 2; json_object_get(taken, key) || json_object_get(also_taken, key); i++) {
        free(key);
        key = must_format("%s (%zu)", sound, i);
    }
    json_decref(text);
    return key;
}

/* The caller frees; NULL: nothing is known of it. */
static char *key_of(const struct writing *w, int64_t object, const char *path) {
    for (size_t i = 0; object != WC_NULL && i < w->n; i++)
        if (w->objects[i].o->object == object)
            return must_copy(w->objects[i].key);
    return path ? new_key(NULL, NULL, wc_base_name(path)) : NULL;
}

static int compare_known(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static int objects_in_order(const void *a, const void *b) {
    const struct wc_object_record *x = ((const struct named *)a)->o;
    const struct wc_object_record *y = ((const struct named *)b)->o;
    const char *const pairs[][2] = {{library_name(x), library_name(y)},
                                    {x->version, y->version},
                                    {x->build_id, y->build_id},
                                    {x->installation, y->installation},
                                    {x->installation_version, y->installation_version},
                                    {library_path(x), library_path(y)}};
    int order = 0;

    for (size_t i = 0; order == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++)
        order = compare_known(pairs[i][0], pairs[i][1]);
    if (order == 0)
        order = (int)x->role - (int)y->role;
    return order ? order : (x->object > y->object) - (x->object < y->object);
}

/* ---- objects ---- */

/* $ORIGIN leads to the same place on every computer. */
static bool is_bound_to_computer(const char *directory) {
    return directory && *directory != '$';
}

static void add_search(const struct writing *w, json_t *facts, const struct wc_object_record *o) {
    const struct wc_search_record *found = library_search(w->s, o);
    struct wc_search_record f;
    json_t *search;

    if (!found)
        return;
    f = *found;
    if (!w->paths) {
        f.of = f.of ? wc_base_name(f.of) : NULL;
        f.element = is_bound_to_computer(f.element) ? NULL : f.element;
    }
    search = facts_of(WC_KIND_search, &f);
    if (json_object_size(search) > 0)
        json_object_set(facts, "search", search);
    json_decref(search);
}

/* What is a host, too, is told whole: its name does not say that. */
static void leave_out_identity(struct wc_object_record *o, const char *name) {
    char part[LOCK_PART];
    enum wc_role role;

    lock_identity_of(name, &role, part);
    if (o->role != role || o->is_host)
        return;
    o->role = WC_role_OTHER;
    if (wc_str_same(o->part, part))
        o->part = NULL;
}

static json_t *object_facts(const struct writing *w, const struct named *library) {
    struct wc_object_record o = *library->o;
    char *asked_by = key_of(w, o.asked_by_object, o.asked_by);
    json_t *facts;

    leave_out_identity(&o, library_name(library->o));
    if (!w->paths) {
        o.path = o.real_path = o.installation_path = NULL;
        o.gpu_library = o.gpu_library ? wc_base_name(o.gpu_library) : NULL;
    }
    if (wc_str_same(o.path, library_name(library->o)))
        o.path = NULL;
    if (o.version)
        o.version_floor = o.version_ceiling = NULL;
    else
        o.version_source = WC_version_source_UNKNOWN;
    o.asked_by = asked_by;
    facts = facts_of(WC_KIND_object, &o);
    add_search(w, facts, library->o);
    free(asked_by);
    return facts;
}

/* All have a name before one is told that refers to another. */
static void add_objects(struct writing *w) {
    json_t *loaded = object_in(w->lock, "objects"), *unloaded = json_object();

    w->objects = must_allocate((w->s->objects.n + 1) * sizeof(*w->objects));
    for (size_t i = 0; i < w->s->objects.n; i++)
        if (library_counts(&w->s->objects.p[i].r))
            w->objects[w->n++].o = &w->s->objects.p[i].r;
    qsort(w->objects, w->n, sizeof(*w->objects), objects_in_order);
    for (size_t i = 0; i < w->n; i++) {
        struct named *library = &w->objects[i];
        library->key = new_key(loaded, unloaded, library_name(library->o));
        json_object_set_new(library->o->mapped ? loaded : unloaded, library->key, json_null());
    }
    for (size_t i = 0; i < w->n; i++)
        json_object_set_new(w->objects[i].o->mapped ? loaded : unloaded, w->objects[i].key,
                            object_facts(w, &w->objects[i]));
    if (json_object_size(unloaded) > 0)
        json_object_set(w->lock, "unloaded", unloaded);
    json_decref(unloaded);
    add_count(w, "objects", w->n, w->source->in_part.objects);
}

/* ---- the computer ---- */

/* The first of that name counts, and those that differ where all is well do not. */
static void add_variable(const struct writing *w, json_t *environment, const char *variable) {
    size_t n = strcspn(variable, "=");
    json_t *name = json_stringn_nocheck(variable, n);
    const char *value = variable[n] ? variable + n + 1 : "";
    char *told = strcmp(json_string_value(name), "LD_PRELOAD") == 0
                     ? compare_preloads(&w->s->process, value)
                     : must_copy(value);

    if (told && !compare_passes_over(variable) &&
        !json_object_get(environment, json_string_value(name)))
        json_object_set_new(environment, json_string_value(name), text_to_json(told));
    free(told);
    json_decref(name);
}

static void add_environment(const struct writing *w) {
    const struct wc_strings *list = &w->s->process.environment;
    json_t *environment;

    if (!w->paths || !w->s->has_process)
        return;
    environment = object_in(w->lock, "environment");
    for (size_t i = 0; i < list->n; i++)
        add_variable(w, environment, list->p[i]);
    add_count(w, "environment", json_object_size(environment), w->source->in_part.environment);
}

/* ---- packages ---- */

static int packages_in_order(const void *a, const void *b) {
    const struct wc_package_record *x = *(const struct wc_package_record *const *)a;
    const struct wc_package_record *y = *(const struct wc_package_record *const *)b;
    int order = strcmp(x->package, y->package);

    if (order == 0)
        order = (int)x->installation_kind - (int)y->installation_kind;
    if (order == 0)
        order = compare_known(x->package_version, y->package_version);
    return order ? order : compare_known(x->installation_path, y->installation_path);
}

static void add_package(const struct writing *w, json_t *packages, struct wc_package_record p) {
    char *key = new_key(packages, NULL, p.package);

    if (!w->paths)
        p.installation_path = NULL;
    json_object_set_new(packages, key, facts_of(WC_KIND_package, &p));
    free(key);
}

static void add_packages(const struct writing *w) {
    const struct wc_stack *s = w->s;
    const struct wc_package_record **sorted = must_allocate((s->packages.n + 1) * sizeof(*sorted));
    json_t *packages = object_in(w->lock, "packages");
    size_t n = 0;

    for (size_t i = 0; i < s->packages.n; i++)
        if (s->packages.p[i].r.package)
            sorted[n++] = &s->packages.p[i].r;
    qsort(sorted, n, sizeof(*sorted), packages_in_order);
    for (size_t i = 0; i < n; i++)
        add_package(w, packages, *sorted[i]);
    free(sorted);
    add_count(w, "packages", n, w->source->in_part.packages);
}

/* ---- what hosts want and use ---- */

static int demands_in_order(const void *a, const void *b) {
    const struct wc_demand_record *x = *(const struct wc_demand_record *const *)a;
    const struct wc_demand_record *y = *(const struct wc_demand_record *const *)b;
    const char *const pairs[][2] = {
        {x->source, y->source}, {x->spec, y->spec}, {x->built, y->built}, {x->package, y->package}};
    int order = 0;

    for (size_t i = 0; order == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++)
        order = compare_known(pairs[i][0], pairs[i][1]);
    return order;
}

/* What was expected of this run is no property of the stack. */
static bool lasts(const struct wc_demand_record *d) {
    return (d->spec || d->built) && d->demand_kind != WC_demand_kind_EXPECTATION;
}

static void add_demand(const struct writing *w, json_t *demands, struct wc_demand_record d) {
    const char *kind = wc_enum_word(WC_ENUM_demand_kind, d.demand_kind);
    char *host = key_of(w, d.host, d.host_path);
    json_t *of_host = object_in(demands, host ? host : "");
    char *key = new_key(of_host, NULL, kind ? kind : "");

    if (wc_str_same(d.source, key))
        d.source = NULL;
    json_object_set_new(of_host, key, facts_of(WC_KIND_demand, &d));
    free(key);
    free(host);
}

static void add_demands(const struct writing *w) {
    const struct wc_stack *s = w->s;
    const struct wc_demand_record **sorted = must_allocate((s->demands.n + 1) * sizeof(*sorted));
    json_t *demands = object_in(w->lock, "demands");
    size_t n = 0;

    for (size_t i = 0; i < s->demands.n; i++)
        if (lasts(&s->demands.p[i].r))
            sorted[n++] = &s->demands.p[i].r;
    qsort(sorted, n, sizeof(*sorted), demands_in_order);
    for (size_t i = 0; i < n; i++)
        add_demand(w, demands, *sorted[i]);
    free(sorted);
    add_count(w, "demands", n, w->source->in_part.demands);
}

/* How it was bound differs from run to run. */
static void add_bindings(const struct writing *w) {
    const struct wc_stack *s = w->s;
    json_t *bindings = object_in(w->lock, "bindings"), *of_host;
    size_t n = 0;

    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct wc_binding_record *b = &s->bindings.p[i].r;
        char *host = key_of(w, b->host, b->host_path);
        char *target = key_of(w, b->target, b->target_path);
        if (target) {
            of_host = object_in(bindings, host ? host : "");
            n += !json_object_get(of_host, target);
            json_object_set_new(of_host, target, json_true());
        }
        free(target);
        free(host);
    }
    add_count(w, "bindings", n, w->source->in_part.bindings);
}

/* ---- the whole ---- */

/* In ASCII: nothing in it reorders text or is taken as an order by a terminal. */
static void print_lock(FILE *to, const json_t *lock) {
    char *text = json_dumps(lock, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);

    for (const char *p = text; *p; p++)
        if (*p == '\x7f')
            fputs("\\u007f", to);
        else
            putc(*p, to);
    putc('\n', to);
    free(text);
}

void lock_write(FILE *to, const struct source *source, bool paths) {
    struct writing w = {
        .lock = json_object(), .source = source, .s = &source->stack, .paths = paths};

    json_object_set_new(w.lock, LOCK_FORMAT_KEY, json_integer(LOCK_FORMAT));
    if (w.s->has_machine)
        json_object_set_new(w.lock, "machine", machine_facts(&w.s->machine));
    add_environment(&w);
    add_packages(&w);
    add_objects(&w);
    add_demands(&w);
    add_bindings(&w);
    print_lock(to, w.lock);
    for (size_t i = 0; i < w.n; i++)
        free(w.objects[i].key);
    free(w.objects);
    json_decref(w.lock);
}

/* ---- requirements ---- */

struct requirement {
    const char *name, *version;
};

static int requirements_in_order(const void *a, const void *b) {
    const struct requirement *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->version, y->version);
}

/* As PEP 508 has names and PEP 440 versions: anything else would mean something to pip, or to the
 * file that it is in. */
static bool is_requirement(const char *name, const char *version) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+!";

    return name && version && *name && *version && *name != '-' &&
           strspn(name, letters) == strlen(name) && !strpbrk(name, "+!") &&
           strspn(version, letters) == strlen(version);
}

static size_t add_requirement(struct requirement *list, size_t n, enum wc_installation_kind kind,
                              const char *name, const char *version) {
    if ((kind == WC_installation_kind_WHEEL || kind == WC_installation_kind_BUNDLED) &&
        is_requirement(name, version))
        list[n++] = (struct requirement){name, version};
    return n;
}

static size_t collect_requirements(const struct wc_stack *s, struct requirement *list) {
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object_record *o = &s->objects.p[i].r;
        if (library_counts(o))
            n = add_requirement(list, n, o->installation_kind, o->installation,
                                o->installation_version);
    }
    qsort(list, n, sizeof(*list), requirements_in_order);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || requirements_in_order(&list[i], &list[kept - 1]) != 0)
            list[kept++] = list[i];
    return kept;
}

/* One that pip finds in no index of its own: a local version (PEP 440). */
static void print_requirement(FILE *to, const struct requirement *r) {
    fprintf(to, "%s==%s%s\n", r->name, r->version,
            strchr(r->version, '+') ? "  # from the index that has this build" : "");
}

/* It may be several; each is told. */
static void print_others(FILE *to, const struct wc_stack *s) {
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object_record *o = &s->objects.p[i].r;
        char *version = library_version(o), *installation = library_installation(o);
        struct requirement r;
        if ((o->role == WC_role_FACADE || o->role == WC_role_PART ||
             o->role == WC_role_CUDA_DEPENDENCY) &&
            add_requirement(&r, 0, o->installation_kind, o->installation,
                            o->installation_version) == 0)
            print_format(to, "# not from pip: %s%s%s (%s)\n", library_name(o), version ? " " : "",
                         version ? version : "", installation ? installation : "not known whose");
        free(version);
        free(installation);
    }
}

size_t lock_write_requirements(FILE *to, const struct source *source) {
    const struct wc_stack *s = &source->stack;
    struct requirement *list = must_allocate((s->objects.n + 1) * sizeof(*list));
    size_t n = collect_requirements(s, list);

    for (size_t i = 0; i < n; i++)
        print_requirement(to, &list[i]);
    print_others(to, s);
    free(list);
    return n;
}
