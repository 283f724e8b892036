/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "core/records/library.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/report.h"
#include "tools/util/disk.h"
#include "tools/util/terminal.h"

#define FORMAT 3 /* 1 had lines of TOML, 2 an object for each name */
#define FORMAT_KEY "whichcudnn-lock"
#define SIZE_MOST ((size_t)16 << 20) /* hundreds of times the lock of a large stack */
#define BEGIN_MOST 4096              /* within which the first key stands */
#define OLDER_FORMAT                                                                               \
    "a lock in the format of an older whichcudnn, which is read no longer; `whichcudnn lock -o "   \
    "FILE LOG` makes a new one"

static const struct locked {
    enum wc_kind kind;
    const char *field;
    bool is_name;
} locked[] = {
#define LOCKED(kind, field) {WC_KIND_##kind, #field, false},
#define NAMED(kind, field) {WC_KIND_##kind, #field, true},
#include "lock.def"
};

/* The sections of a lock, each a list of records, in the order in which they are read: objects have
 * a number before something refers to them. */
static const struct section {
    enum wc_kind kind;
    bool is_counted; /* in "complete" */
} sections[] = {
    {WC_KIND_machine, false}, {WC_KIND_process, true}, {WC_KIND_package, true},
    {WC_KIND_object, true},   {WC_KIND_search, false}, {WC_KIND_demand, true},
    {WC_KIND_binding, true},
};

/* How many entries a section has: of the environment, its variables. */
static json_t *count_of(const json_t *section, enum wc_kind kind) {
    if (kind == WC_KIND_process)
        section = json_object_get(json_array_get(section, 0), "environment");
    return json_integer((json_int_t)json_array_size(section));
}

/* What a lock omits of a record. */
static void begin_record(struct wc_record *r, enum wc_kind kind) {
    wc_record_begin(r, kind);
    if (kind == WC_KIND_object)
        r->u.object.mapped = true;
}

/* ---- a lock of a process ---- */

struct entry {
    char *order;  /* entries come by this text */
    json_t *json; /* the record as the lock has it */
    const struct wc_object *object;
};

struct entries {
    struct entry *p;
    size_t n;
};

struct writing {
    const struct wc_stack *s;
    bool paths;
    struct entries of[WC_KINDS]; /* by kind */
    struct heap_arena texts;
};

WC_COMPARE(in_order, struct entry, strcmp(x->order, y->order));

/* In order, each of a text once if that is wanted. Lets the list go. New reference. */
static json_t *take_entries(struct entries *list, bool without_twins) {
    json_t *array = json_array();

    SORT(*list, in_order);
    WC_EACH(e, *list)
        if (without_twins && e > list->p && strcmp(e->order, e[-1].order) == 0)
            json_decref(e->json);
        else
            json_array_append_new(array, e->json);
    WC_EACH(e, *list)
        free(e->order);
    free(list->p);
    return array;
}

/* The chosen fields in which the record differs from one of which nothing is known. It comes by
 * name, by these fields, then by place. */
static struct entry *add_entry(struct writing *w, enum wc_kind kind, const void *record,
                               const char *name, const char *place) {
    struct entries *list = &w->of[kind];
    struct wc_record none;
    json_t *chosen = json_object();

    begin_record(&none, kind);
    json_auto_t *all = record_to_json(kind, record, NULL);
    json_auto_t *usual = record_to_json(kind, &none.u, NULL);
    WC_EACH_ROW(row, locked) {
        json_t *value = json_object_get(all, row->field);
        if (row->kind == kind && !json_equal(value, json_object_get(usual, row->field)))
            json_object_set(chosen, row->field, value);
    }
    OWNED char *facts = json_dumps(chosen, JSON_COMPACT | JSON_SORT_KEYS);
    *MUST_ADD(list->p, list->n) =
        (struct entry){must_format("%s\1%s\1%s", name, facts, place), chosen, NULL};
    return &list->p[list->n - 1];
}

/* "libcudnn.so.9", and "(2)/libcudnn.so.9" for the next of that name. taken has those given. */
static json_t *new_name(json_t *taken, const char *name) {
    OWNED char *text = must_format("%s", name);

    for (size_t i = 2; json_object_get(taken, text); i++) {
        free(text);
        text = must_format("(%zu)/%s", i, name);
    }
    json_object_set_new_nocheck(taken, text, json_true());
    return text_to_json(text);
}

static const char *name_in(const struct entry *object) {
    return json_string_value(json_object_get(object->json, "name"));
}

/* How the lock calls an object, or a file that is none of its objects. NULL: nothing is known. */
static const char *name_of(struct writing *w, int64_t object, const char *path) {
    const struct entry *own = WC_FIRST(e, w->of[WC_KIND_object], wc_means(e->object, object, path));

    return own    ? name_in(own)
           : path ? wc_arena_format(&w->texts.arena, ".../%s", wc_base_name(path))
                  : NULL;
}

/* All have a name before one is reported that refers to another. How often a number or a path comes
 * differs from run to run, so it counts last. */
static void add_objects(struct writing *w, bool of_lock) {
    struct entries *objects = &w->of[WC_KIND_object];

    WC_EACH(object, w->s->objects) {
        struct wc_object_record o = object->r;
        const char *name = library_name(&object->r), *path = library_path(&object->r);
        if (!library_counts(&o))
            continue;
        o.asked_by = NULL;
        /* Of an object without a path, a lock that is read has the name, new_name()'s, too. */
        o.path = w->paths && strcmp(path, name) != 0 && *path != '(' ? path : NULL;
        if (!w->paths) {
            o.installation_path = NULL;
            o.gpu_library = wc_base_name(o.gpu_library);
        }
        if (o.version)
            o.version_floor = o.version_ceiling = NULL;
        else
            o.version_source = WC_version_source_UNKNOWN;
        OWNED char *place = must_format("%s\1%020jd", of_lock ? "" : path, o.object);
        add_entry(w, WC_KIND_object, &o, name, place)->object = object;
    }
    SORT(*objects, in_order);
    json_auto_t *taken = json_object();
    WC_EACH(e, *objects)
        json_object_set_new(e->json, "name", new_name(taken, library_name(&e->object->r)));
    WC_EACH(e, *objects) {
        const char *by = name_of(w, e->object->r.asked_by_object, e->object->r.asked_by);
        if (by)
            json_object_set_new(e->json, "asked_by", text_to_json(by));
    }
}

/* $ORIGIN points to the same place on every machine. */
static void add_searches(struct writing *w) {
    WC_EACH(e, w->of[WC_KIND_object]) {
        const struct wc_search_record *found = library_search(w->s, &e->object->r);
        struct wc_search_record f = found ? *found : (struct wc_search_record){.name = NULL};
        f.name = name_in(e);
        if (!w->paths) {
            f.of = wc_base_name(f.of);
            f.element = f.element && *f.element == '$' ? f.element : NULL;
        }
        if (f.rule || f.of || f.element)
            add_entry(w, WC_KIND_search, &f, f.name, NULL);
    }
}

/* The first of a name counts, and those that differ where all is well do not. */
static json_t *environment_of(const struct wc_stack *s) {
    const struct wc_strings *all = &s->process.environment;
    json_t *list = json_array();

    WC_EACH(v, *all) {
        const size_t n = strcspn(*v, "=");
        OWNED char *value = compare_value(s, *v);
        OWNED char *told = must_format("%.*s=%s", (int)n, *v, value);
        if (value && WC_FIRST(e, *all, strncmp(*e, *v, n) == 0 && strcspn(*e, "=") == n) == v)
            json_array_append_new(list, text_to_json(told));
    }
    return list;
}

static void add_others(struct writing *w) {
    const struct wc_stack *s = w->s;

    if (s->has_machine)
        add_entry(w, WC_KIND_machine, &s->machine, NULL, NULL);
    if (s->has_process && w->paths)
        json_object_set_new(add_entry(w, WC_KIND_process, &s->process, NULL, NULL)->json,
                            "environment", environment_of(s));
    WC_EACH(package, s->packages) {
        struct wc_package_record p = package->r;
        p.installation_path = w->paths ? p.installation_path : NULL;
        if (p.package)
            add_entry(w, WC_KIND_package, &p, p.package, NULL);
    }
    WC_EACH(demand, s->demands) {
        struct wc_demand_record d = demand->r;
        d.host_path = name_of(w, d.host, d.host_path);
        /* What was expected of this run is not a property of the stack. */
        if ((d.spec || d.built) && d.demand_kind != WC_demand_kind_EXPECTATION)
            add_entry(w, WC_KIND_demand, &d, NULL, NULL);
    }
    WC_EACH(binding, s->bindings) {
        struct wc_binding_record b = binding->r;
        b.host_path = name_of(w, b.host, b.host_path);
        b.target_path = name_of(w, b.target, b.target_path);
        if (b.target_path)
            add_entry(w, WC_KIND_binding, &b, NULL, NULL);
    }
}

/* How something was bound differs from run to run, so equal bindings are one. */
void lock_write(FILE *to, const struct source *source, bool paths) {
    struct writing w = {.s = &source->stack, .paths = paths, .texts = HEAP_ARENA(w.texts)};
    json_t *lock = json_object(), *complete = json_object();

    add_objects(&w, source->type == SOURCE_LOCK);
    add_searches(&w);
    add_others(&w);
    WC_EACH_ROW(row, sections) {
        json_auto_t *section = take_entries(&w.of[row->kind], row->kind == WC_KIND_binding);
        size_t n = json_array_size(section);
        if (row->is_counted && !source->in_part[row->kind] &&
            (row->kind != WC_KIND_process || n > 0))
            json_object_set_new(complete, wc_kind_name(row->kind), count_of(section, row->kind));
        if (n > 0)
            json_object_set(lock, wc_kind_name(row->kind), section);
    }
    heap_arena_end(&w.texts);
    json_object_set_new(lock, "complete", complete);
    json_object_set_new(lock, FORMAT_KEY, json_integer(FORMAT));
    json_print_as(to, lock, JSON_SORT_KEYS);
}

/* ---- requirements ---- */

/* As PEP 508 has names and PEP 440 versions: anything else would mean something to pip, or to the
 * file that it is in. */
static bool is_from_pip(const struct wc_object_record *o) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+!";
    const char *name = o->installation ?: "", *version = o->installation_version ?: "";

    return (o->installation_kind == WC_installation_kind_WHEEL ||
            o->installation_kind == WC_installation_kind_BUNDLED) &&
           *name && *version && *name != '-' && strspn(name, letters) == strlen(name) &&
           !strpbrk(name, "+!") && strspn(version, letters) == strlen(version);
}

/* One with a local version (PEP 440) pip finds in no index of its own. */
size_t lock_write_requirements(FILE *to, const struct source *source) {
    struct entries list = {NULL, 0};
    json_t *line;
    size_t i, n = 0;

    WC_EACH(object, source->stack.objects) {
        const struct wc_object_record *o = &object->r;
        if (!library_counts(o) || !is_from_pip(o))
            continue;
        OWNED char *text = must_format(
            "%s==%s%s", o->installation, o->installation_version,
            strchr(o->installation_version, '+') ? "  # from the index that has this build" : "");
        *MUST_ADD(list.p, list.n) = (struct entry){must_copy(text), text_to_json(text), NULL};
    }
    json_auto_t *lines = take_entries(&list, true);
    json_array_foreach(lines, i, line)
        n += fprintf(to, "%s\n", json_string_value(line)) > 0;
    WC_EACH(object, source->stack.objects) {
        const struct wc_object_record *o = &object->r;
        OWNED char *version = library_version(o), *installation = library_installation(o);
        if ((o->role == WC_role_FACADE || o->role == WC_role_PART ||
             o->role == WC_role_CUDA_DEPENDENCY) &&
            !is_from_pip(o))
            print_format(to, "# not from pip: %s%s%s (%s)\n", library_name(o), version ? " " : "",
                         version, installation ?: "not known whose");
    }
    return n;
}

/* ---- a lock into the model ---- */

struct reading {
    struct source *source;
    json_t *numbers; /* of objects, by their names */
    struct heap_arena texts;
    struct wc_record record; /* the lock that is read ... */
    size_t n;                /* ... the n-th of its section, from 1 */
    char *trouble;           /* NULL: none yet */
};

static bool refuse(struct reading *in, const char *what, const char *why) {
    in->trouble = must_format("%s: %s", what, why);
    return false;
}

static bool fail(struct reading *in, const char *field, const char *why) {
    OWNED char *what =
        must_format("%s %zu%s%s", wc_kind_name(in->record.kind), in->n, *field ? ": " : "", field);
    return refuse(in, what, why);
}

static bool take_field(struct reading *in, const char *key, const json_t *value) {
    struct wc_record *r = &in->record;
    size_t n;
    const struct wc_field *f = wc_kind_fields(r->kind, &n);

    if (!WC_ANY(row, WC_ROWS(locked), row->kind == r->kind && strcmp(row->field, key) == 0))
        return fail(in, key, "no fact of that name is known");
    while (strcmp(f->name, key) != 0)
        f++;
    return (!json_is_null(value) &&
            record_field_from_json(value, f, &in->texts.arena, (char *)&r->u + f->offset)) ||
           fail(in, key, "not what belongs there");
}

static int64_t number_of(const struct reading *in, const char *name) {
    const json_t *number = name ? json_object_get(in->numbers, name) : NULL;

    return number ? (int64_t)json_integer_value(number) : WC_NULL;
}

/* Role and part where the lock does not say them: by the name. */
static void complete_object(struct reading *in, struct wc_object_record *o, const char *name) {
    struct wc_library l;

    wc_library_begin(&l, name);
    l.name = wc_name_read(wc_base_name(name));
    if (!o->role && !o->is_host) {
        o->role = wc_library_role(&l);
        if (!o->part && *l.name.part)
            o->part = heap_copy(&in->texts, l.name.part);
    }
    o->soname = o->role == WC_role_HOST ? NULL : name;
    if (!o->path || strcmp(library_name(o), wc_base_name(name)) != 0)
        o->path = name;
    o->object = number_of(in, name);
    o->asked_by_object = number_of(in, o->asked_by);
}

/* Numbers, and what else distinguishes records of a kind in the model and is not in the lock: there
 * it is where they stand. */
static void complete_record(struct reading *in, const char *name) {
    const char *place = wc_arena_format(&in->texts.arena, "%zu", in->n);
    struct wc_demand_record *d = &in->record.u.demand;
    struct wc_binding_record *b = &in->record.u.binding;

    switch (in->record.kind) {
    case WC_KIND_object:
        complete_object(in, &in->record.u.object, name);
        break;
    case WC_KIND_search:
        in->record.u.search.search = (int64_t)in->n;
        in->record.u.search.object = number_of(in, name);
        break;
    case WC_KIND_package:
        in->record.u.package.prefix = place;
        break;
    case WC_KIND_demand:
        d->host = number_of(in, d->host_path);
        if (d->host == WC_NULL && d->host_path)
            d->host_path = wc_arena_format(&in->texts.arena, "%s/%s", place, d->host_path);
        else if (d->host == WC_NULL)
            d->host = (int64_t)(json_object_size(in->numbers) + in->n); /* no object has it */
        if (!d->source && WC_ANY(other, in->source->stack.demands,
                                 other->r.host == d->host && d->host != WC_NULL &&
                                     other->r.demand_kind == d->demand_kind))
            d->source = place;
        break;
    case WC_KIND_binding:
        b->host = number_of(in, b->host_path);
        b->target = number_of(in, b->target_path);
        break;
    default:
        break;
    }
}

/* Of no time: a lock is the same whenever it is read. */
static bool take_record(struct reading *in, enum wc_kind kind, const json_t *json) {
    const char *key;
    json_t *value;

    begin_record(&in->record, kind);
    if (!json_is_object(json))
        return fail(in, "", "an object is expected: {\"fact\": \"text\", ...}");
    WC_EACH_ROW(row, locked)
        if (row->kind == kind && row->is_name && !json_object_get(json, row->field))
            return fail(in, row->field, "is missing");
    json_object_foreach((json_t *)json, key, value)
        if ((kind != WC_KIND_object || strcmp(key, "name") != 0) && !take_field(in, key, value))
            return false;
    complete_record(in, json_string_value(json_object_get(json, "name")));
    in->record.seq = in->source->last_seq + 1;
    source_take(in->source, &in->record);
    return in->source->stack.dropped == 0 || fail(in, "", "more than a process can have");
}

static const struct section *section_called(const char *name) {
    return WC_FIRST(section, WC_ROWS(sections), strcmp(wc_kind_name(section->kind), name) == 0);
}

static bool take_sections(struct reading *in, const json_t *lock) {
    const json_t *complete = json_object_get(lock, "complete"), *list, *record;
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach((json_t *)lock, key, value)
        if (strcmp(key, FORMAT_KEY) != 0 && strcmp(key, "complete") != 0 &&
            (!section_called(key) || !json_is_array(value)))
            return refuse(in, key,
                          "a lock has lists of binding, demand, machine, object, package, "
                          "process, search, and complete and " FORMAT_KEY);
    if (complete && !json_is_object(complete))
        return refuse(in, "complete", "an object is expected: {\"section\": number, ...}");
    json_object_foreach((json_t *)complete, key, value) {
        const struct section *section = section_called(key);
        OWNED char *what = must_format("complete: %s", key);
        if (!section || !section->is_counted || !json_is_integer(value))
            return refuse(in, what, "no section is counted so");
    }
    /* The loader may ask for an object before its kind is known. */
    in->record.kind = WC_KIND_object;
    json_array_foreach(json_object_get(lock, "object"), i, record) {
        const char *name = json_string_value(json_object_get(record, "name"));

        in->n = i + 1;
        if (!name || json_object_get(in->numbers, name))
            return fail(in, "name", name ? "another object has it, too" : "a text is expected");
        json_object_set_new(in->numbers, name, json_integer((json_int_t)in->n));
    }
    WC_EACH_ROW(row, sections) {
        const char *name = wc_kind_name(row->kind);
        list = json_object_get(lock, name);
        json_array_foreach(list, i, record) {
            in->n = i + 1;
            if (!take_record(in, row->kind, record))
                return false;
        }
        json_auto_t *count = count_of(list, row->kind);
        in->source->in_part[row->kind] =
            !row->is_counted || !json_equal(json_object_get(complete, name), count);
    }
    return true;
}

/* By what comes first, a comment of the oldest format aside. */
static bool is_lock(const char *text, bool *is_oldest) {
    while (*text == '#' || isspace((unsigned char)*text))
        text += *text == '#' ? strcspn(text, "\n") : 1;
    *is_oldest = wc_str_starts(text, FORMAT_KEY);
    if (*text == '{')
        text += 1 + strspn(text + 1, " \t\r\n");
    if (*text++ != '"')
        return *is_oldest;
    /* The former format had "objects", now there is "object". */
    return WC_ANY(section, WC_ROWS(sections), wc_str_starts(text, wc_kind_name(section->kind))) ||
           wc_str_starts(text, FORMAT_KEY) || wc_str_starts(text, "complete\"") ||
           wc_str_starts(text, "environment\"");
}

bool lock_begins(const char *path) {
    bool is_oldest;
    OWNED char *text = disk_text(path, BEGIN_MOST, NULL);

    return text && is_lock(text, &is_oldest);
}

struct source *lock_read(const char *path, char **trouble) {
    size_t n;
    bool is_oldest;
    json_auto_t *lock = NULL, *numbers = json_object();
    OWNED char *text = disk_text(path, SIZE_MOST + 1, &n);
    struct reading in = {.texts = HEAP_ARENA(in.texts), .numbers = numbers};
    json_error_t error;
    const json_t *format;

    if (!text)
        in.trouble = must_copy(strerror(errno));
    else if (n > SIZE_MOST)
        in.trouble = must_copy("too large for a lock");
    else if (!is_lock(text, &is_oldest))
        in.trouble = must_copy("not a lock of whichcudnn");
    else if (is_oldest)
        in.trouble = must_copy(OLDER_FORMAT);
    else if (!(lock = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error)))
        in.trouble = must_format("line %d: %s", error.line, error.text);
    else if (!json_is_integer(format = json_object_get(lock, FORMAT_KEY)))
        in.trouble = must_copy("\"" FORMAT_KEY "\": 3 is missing");
    else if (json_integer_value(format) != FORMAT)
        in.trouble = must_copy(json_integer_value(format) < FORMAT
                                   ? OLDER_FORMAT
                                   : "a newer format than this whichcudnn reads");
    in.source = source_new(SOURCE_LOCK, path);
    if (in.trouble || !take_sections(&in, lock)) {
        source_free(in.source);
        in.source = NULL;
    }
    *trouble = in.trouble;
    heap_arena_end(&in.texts);
    return in.source;
}
