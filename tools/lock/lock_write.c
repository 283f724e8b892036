/* SPDX-License-Identifier: Apache-2.0 */
/* A process into a lock: see lock.h. */
#include <stdlib.h>
#include <string.h>

#include "lock.h"
#include "tools/log/record_json.h"
#include "tools/report/compare.h"
#include "tools/report/library.h"
#include "tools/util/terminal.h"

struct entry { /* a record that the lock keeps */
    const void *record;
    char *order; /* entries come by this text */
    char *key;   /* of an object: how the lock calls it */
};

struct entries {
    struct entry *p;
    size_t n;
};

struct writing {
    json_t *lock;
    const struct source *source;
    const struct wc_stack *s;
    bool paths;
    struct entries objects;
    json_t *keys;  /* those of objects, and of hosts that are none */
    json_t *hosts; /* the keys of these hosts, by their paths */
};

/* ---- in the same order, however they were loaded ---- */

static const char *known(const char *s) {
    return s ? s : "";
}

/* Takes order: what tells entries apart, the most telling first, a \1 between. */
static void add_entry(struct entries *list, const void *record, char *order) {
    *MUST_ADD(list->p, list->n) = (struct entry){record, order, NULL};
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const struct entry *)a)->order, ((const struct entry *)b)->order);
}

static void sort(struct entries *list) {
    if (list->n > 0)
        qsort(list->p, list->n, sizeof(*list->p), compare_entries);
}

static void entries_end(struct entries *list) {
    WC_EACH(entry, *list) {
        free(entry->order);
        free(entry->key);
    }
    free(list->p);
}

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
    OWNED char *gpus = compare_list_text(&machine->gpus);

    if (gpus)
        json_object_set_new(facts, "gpus", text_to_json(gpus));
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

/* "libcudnn.so.9", and "libcudnn.so.9 (2)" for the next of that name: the last number is none of
 * the name, so one that ends so gets one, too. The caller frees. */
static char *new_key(const json_t *taken, const char *name) {
    json_t *text = text_to_json(name);
    const char *sound = json_string_value(text);
    bool has_number = lock_name_length(sound) < strlen(sound);
    char *key = has_number ? must_format("%s (1)", sound) : must_copy(sound);

    for (size_t i = 2; json_object_get(taken, key); i++) {
        free(key);
        key = must_format("%s (%zu)", sound, i);
    }
    json_decref(text);
    return key;
}

/* The caller frees; NULL: nothing is known of it. */
static char *key_of(const struct writing *w, int64_t object, const char *path) {
    WC_EACH(entry, w->objects)
        if (object != WC_NULL && ((const struct wc_object_record *)entry->record)->object == object)
            return must_copy(entry->key);
    return path ? new_key(NULL, wc_base_name(path)) : NULL;
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

static json_t *object_facts(const struct writing *w, const struct wc_object_record *object) {
    struct wc_object_record o = *object;
    char *asked_by = key_of(w, o.asked_by_object, o.asked_by);
    json_t *facts;

    leave_out_identity(&o, library_name(object));
    if (!w->paths) {
        o.path = o.real_path = o.installation_path = NULL;
        o.gpu_library = o.gpu_library ? wc_base_name(o.gpu_library) : NULL;
    }
    if (wc_str_same(o.path, library_name(object)))
        o.path = NULL;
    if (o.version)
        o.version_floor = o.version_ceiling = NULL;
    else
        o.version_source = WC_version_source_UNKNOWN;
    o.asked_by = asked_by;
    facts = facts_of(WC_KIND_object, &o);
    add_search(w, facts, object);
    free(asked_by);
    return facts;
}

static void find_objects(struct writing *w) {
    WC_EACH(object, w->s->objects) {
        const struct wc_object_record *o = &object->r;
        if (library_counts(o))
            add_entry(&w->objects, o,
                      must_format("%s\1%s\1%s\1%s\1%s\1%s\1%u\1%020lld", library_name(o),
                                  known(o->version), known(o->build_id), known(o->installation),
                                  known(o->installation_version), library_path(o), o->role,
                                  (long long)o->object));
    }
    sort(&w->objects);
}

/* All have a name before one is told that refers to another. */
static void add_objects(struct writing *w) {
    find_objects(w);
    for (size_t i = 0; i < w->objects.n; i++) {
        struct entry *e = &w->objects.p[i];
        e->key = new_key(w->keys, library_name(e->record));
        json_object_set_new(w->keys, e->key, json_true());
    }
    object_in(w->lock, "objects");
    WC_EACH(e, w->objects) {
        bool mapped = ((const struct wc_object_record *)e->record)->mapped;
        json_object_set_new(object_in(w->lock, mapped ? "objects" : "unloaded"), e->key,
                            object_facts(w, e->record));
    }
    add_count(w, "objects", w->objects.n, w->source->in_part.objects);
}

/* ---- the computer ---- */

/* The first of that name counts, and those that differ where all is well do not. */
static void add_variable(const struct writing *w, json_t *environment, const char *variable) {
    size_t n = strcspn(variable, "=");
    json_t *name = json_stringn_nocheck(variable, n);
    const char *value = variable[n] ? variable + n + 1 : "";
    OWNED char *told = strcmp(json_string_value(name), "LD_PRELOAD") == 0
                           ? compare_preloads(&w->s->process, value)
                           : must_copy(value);

    if (told && !compare_passes_over(variable) &&
        !json_object_get(environment, json_string_value(name)))
        json_object_set_new(environment, json_string_value(name), text_to_json(told));
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

static void add_package(const struct writing *w, json_t *packages, struct wc_package_record p) {
    OWNED char *key = new_key(packages, p.package);

    if (!w->paths)
        p.installation_path = NULL;
    json_object_set_new(packages, key, facts_of(WC_KIND_package, &p));
}

static void add_packages(const struct writing *w) {
    json_t *packages = object_in(w->lock, "packages");
    struct entries list = {NULL, 0};

    WC_EACH(package, w->s->packages) {
        const struct wc_package_record *p = &package->r;
        if (p->package)
            add_entry(&list, p,
                      must_format("%s\1%u\1%s\1%s", p->package, p->installation_kind,
                                  known(p->package_version), known(p->installation_path)));
    }
    sort(&list);
    WC_EACH(entry, list)
        add_package(w, packages, *(const struct wc_package_record *)entry->record);
    add_count(w, "packages", list.n, w->source->in_part.packages);
    entries_end(&list);
}

/* ---- what hosts want and use ---- */

/* What was expected of this run is no property of the stack. */
static bool lasts(const struct wc_demand_record *d) {
    return (d->spec || d->built) && d->demand_kind != WC_demand_kind_EXPECTATION;
}

/* One that became no object has a key of its own: another of its name wants something else. */
static const char *key_of_host(const struct writing *w, const struct wc_demand_record *d) {
    const char *path = d->host_path;
    char *key;

    WC_EACH(entry, w->objects) {
        const struct wc_object_record *o = entry->record;
        bool is_of_path =
            path && wc_str_same(o->path, path) && strcmp(library_name(o), wc_base_name(path)) == 0;
        if (d->host == WC_NULL ? is_of_path : o->object == d->host)
            return entry->key;
    }
    if (!path)
        return "";
    if (!json_object_get(w->hosts, path)) {
        key = new_key(w->keys, wc_base_name(path));
        json_object_set_new(w->keys, key, json_true());
        json_object_set_new_nocheck(w->hosts, path, json_string(key));
        free(key);
    }
    return json_string_value(json_object_get(w->hosts, path));
}

static void add_demand(const struct writing *w, json_t *demands, struct wc_demand_record d) {
    const char *kind = known(wc_enum_word(WC_ENUM_demand_kind, d.demand_kind));
    json_t *of_host = object_in(demands, key_of_host(w, &d));
    OWNED char *key = new_key(of_host, kind);

    if (wc_str_same(d.source, key))
        d.source = NULL;
    json_object_set_new(of_host, key, facts_of(WC_KIND_demand, &d));
}

static void add_demands(const struct writing *w) {
    json_t *demands = object_in(w->lock, "demands");
    struct entries list = {NULL, 0};

    WC_EACH(demand, w->s->demands) {
        const struct wc_demand_record *d = &demand->r;
        if (lasts(d))
            add_entry(&list, d,
                      must_format("%s\1%s\1%s\1%s", known(d->source), known(d->spec),
                                  known(d->built), known(d->package)));
    }
    sort(&list);
    WC_EACH(entry, list)
        add_demand(w, demands, *(const struct wc_demand_record *)entry->record);
    add_count(w, "demands", list.n, w->source->in_part.demands);
    entries_end(&list);
}

/* How it was bound differs from run to run. */
static void add_bindings(const struct writing *w) {
    json_t *bindings = object_in(w->lock, "bindings"), *of_host;
    size_t n = 0;

    WC_EACH(binding, w->s->bindings) {
        const struct wc_binding_record *b = &binding->r;
        OWNED char *host = key_of(w, b->host, b->host_path);
        OWNED char *target = key_of(w, b->target, b->target_path);
        if (target) {
            of_host = object_in(bindings, known(host));
            n += !json_object_get(of_host, target);
            json_object_set_new(of_host, target, json_true());
        }
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
    struct writing w = {.lock = json_object(),
                        .source = source,
                        .s = &source->stack,
                        .paths = paths,
                        .keys = json_object(),
                        .hosts = json_object()};

    json_object_set_new(w.lock, LOCK_FORMAT_KEY, json_integer(LOCK_FORMAT));
    if (w.s->has_machine)
        json_object_set_new(w.lock, "machine", machine_facts(&w.s->machine));
    add_environment(&w);
    add_packages(&w);
    add_objects(&w);
    add_demands(&w);
    add_bindings(&w);
    print_lock(to, w.lock);
    entries_end(&w.objects);
    json_decref(w.hosts);
    json_decref(w.keys);
    json_decref(w.lock);
}

/* ---- requirements ---- */

/* As PEP 508 has names and PEP 440 versions: anything else would mean something to pip, or to the
 * file that it is in. */
static bool is_requirement(const char *name, const char *version) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+!";

    return name && version && *name && *version && *name != '-' &&
           strspn(name, letters) == strlen(name) && !strpbrk(name, "+!") &&
           strspn(version, letters) == strlen(version);
}

static bool is_from_pip(const struct wc_object_record *o) {
    return (o->installation_kind == WC_installation_kind_WHEEL ||
            o->installation_kind == WC_installation_kind_BUNDLED) &&
           is_requirement(o->installation, o->installation_version);
}

/* One with a local version (PEP 440) pip finds in no index of its own. */
static void print_requirement(FILE *to, const struct wc_object_record *o) {
    fprintf(to, "%s==%s%s\n", o->installation, o->installation_version,
            strchr(o->installation_version, '+') ? "  # from the index that has this build" : "");
}

/* It may be several; each is told. */
static void print_others(FILE *to, const struct wc_stack *s) {
    WC_EACH(object, s->objects) {
        const struct wc_object_record *o = &object->r;
        OWNED char *version = library_version(o), *installation = library_installation(o);
        if ((o->role == WC_role_FACADE || o->role == WC_role_PART ||
             o->role == WC_role_CUDA_DEPENDENCY) &&
            !is_from_pip(o))
            print_format(to, "# not from pip: %s%s%s (%s)\n", library_name(o), version ? " " : "",
                         known(version), installation ? installation : "not known whose");
    }
}

size_t lock_write_requirements(FILE *to, const struct source *source) {
    struct entries list = {NULL, 0};
    const char *last = "";
    size_t n = 0;

    WC_EACH(object, source->stack.objects) {
        const struct wc_object_record *o = &object->r;
        if (library_counts(o) && is_from_pip(o))
            add_entry(&list, o, must_format("%s\1%s", o->installation, o->installation_version));
    }
    sort(&list);
    WC_EACH(entry, list) {
        if (strcmp(entry->order, last) != 0) {
            print_requirement(to, entry->record);
            n++;
        }
        last = entry->order;
    }
    print_others(to, &source->stack);
    entries_end(&list);
    return n;
}
