/* A process into a lock: see lock.h. */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "core/base/json_text.h"
#include "lock.h"
#include "tools/report/compare.h"
#include "tools/report/library.h"
#include "tools/util/terminal.h"

struct named { /* an object that counts, and how the lock calls it */
    const struct wc_object_record *o;
    char *key;
};

struct used_key {
    char *text; /* kind and name */
    UT_hash_handle hh;
};

struct writing {
    FILE *to;
    const struct wc_stack *s;
    bool paths;
    struct named *objects; /* in the order of the lock */
    size_t n;
    struct used_key *used;
};

/* ---- spelling ---- */

/* As JSON and TOML both have it. */
static void print_string(FILE *to, const char *s) {
    uint32_t order;
    size_t n;

    putc('"', to);
    for (; *s; s += n ? n : 1) {
        n = wc_utf8_length(s);
        order = n > 0 ? text_order(s, n) : 0;
        if (n == 0)
            fputs("\xEF\xBF\xBD", to); /* U+FFFD */
        else if (order)
            fprintf(to, "\\u%04x", (unsigned)order);
        else
            fprintf(to, *s == '"' || *s == '\\' ? "\\%.*s" : "%.*s", (int)n, s);
    }
    putc('"', to);
}

static void print_strings(FILE *to, const struct wc_strings *list) {
    putc('[', to);
    for (size_t i = 0; i < list->n; i++) {
        fputs(i > 0 ? ", " : "", to);
        print_string(to, list->p[i]);
    }
    putc(']', to);
}

static void print_key(FILE *to, const char *kind, const char *name) {
    fputs(kind, to);
    if (name) {
        putc('.', to);
        print_string(to, name);
    }
}

static unsigned value_of_enum(const void *at) {
    unsigned v;

    memcpy(&v, at, sizeof(v));
    return v;
}

/* Not known, or as it is with nearly all. */
static bool goes_without_saying(const struct wc_field *f, const void *at) {
    switch (f->type) {
    case WC_FIELD_STR:
        return !*(const char *const *)at;
    case WC_FIELD_BOOL:
        return *(const bool *)at == (strcmp(f->name, "mapped") == 0);
    case WC_FIELD_STRS:
        return ((const struct wc_strings *)at)->n == 0;
    case WC_FIELD_ENUM:
        return !wc_enum_word(f->enumeration, value_of_enum(at));
    default:
        return true;
    }
}

static void print_value(FILE *to, const struct wc_field *f, const void *at) {
    switch (f->type) {
    case WC_FIELD_STR:
        print_string(to, *(const char *const *)at);
        break;
    case WC_FIELD_BOOL:
        fputs(*(const bool *)at ? "true" : "false", to);
        break;
    case WC_FIELD_STRS:
        print_strings(to, at);
        break;
    default:
        print_string(to, wc_enum_word(f->enumeration, value_of_enum(at)));
        break;
    }
}

static void print_field(const struct writing *w, enum wc_kind kind, const char *name,
                        const void *record, const char *field) {
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);

    while (strcmp(f->name, field) != 0)
        f++;
    record = (const char *)record + f->offset;
    if (goes_without_saying(f, record))
        return;
    print_key(w->to, wc_kind_name(kind), name);
    fprintf(w->to, ".%s = ", field);
    print_value(w->to, f, record);
    putc('\n', w->to);
}

static void print_record(const struct writing *w, enum wc_kind kind, const char *name,
                         const void *record) {
    static const struct {
        enum wc_kind kind;
        const char *field;
    } locked[] = {
#define LOCKED(kind, field) {WC_KIND_##kind, #field},
#include "lock.def"
    };

    for (size_t i = 0; i < sizeof(locked) / sizeof(locked[0]); i++)
        if (locked[i].kind == kind)
            print_field(w, kind, name, record, locked[i].field);
}

/* ---- names ---- */

static bool use_key(struct writing *w, enum wc_kind kind, const char *key) {
    char *text = must_format("%d %s", (int)kind, key);
    struct used_key *one;

    HASH_FIND_STR(w->used, text, one);
    if (one) {
        free(text);
        return false;
    }
    one = must_allocate(sizeof(*one));
    one->text = text;
    HASH_ADD_KEYPTR(hh, w->used, one->text, strlen(one->text), one);
    return true;
}

/* "libcudnn.so.9", and "libcudnn.so.9 (2)" for the next of that name. The caller frees. */
static char *new_key(struct writing *w, enum wc_kind kind, const char *name) {
    char *key = must_copy(name);

    for (size_t i = 2; !use_key(w, kind, key); i++) {
        free(key);
        key = must_format("%s (%zu)", name, i);
    }
    return key;
}

static void keys_end(struct writing *w) {
    struct used_key *one, *next;

    HASH_ITER(hh, w->used, one, next) {
        HASH_DEL(w->used, one);
        free(one->text);
        free(one);
    }
    for (size_t i = 0; i < w->n; i++)
        free(w->objects[i].key);
    free(w->objects);
}

static const char *key_of(const struct writing *w, int64_t object, const char *path) {
    for (size_t i = 0; object != WC_NULL && i < w->n; i++)
        if (w->objects[i].o->object == object)
            return w->objects[i].key;
    return path ? wc_base_name(path) : NULL;
}

/* Hosts, what they got, what that brought along. */
static int place_of(const struct wc_object_record *o) {
    static const int places[] = {[WC_role_HOST] = 0,
                                 [WC_role_FACADE] = 1,
                                 [WC_role_PART] = 2,
                                 [WC_role_CUDA_DEPENDENCY] = 3,
                                 [WC_role_OTHER] = 4};

    return (unsigned)o->role < sizeof(places) / sizeof(places[0]) ? places[o->role] : 4;
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
    int order = place_of(x) - place_of(y);

    for (size_t i = 0; order == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++)
        order = compare_known(pairs[i][0], pairs[i][1]);
    return order ? order : (x->object > y->object) - (x->object < y->object);
}

static void name_objects(struct writing *w) {
    size_t n = 0;

    w->objects = must_allocate((w->s->objects.n + 1) * sizeof(*w->objects));
    for (size_t i = 0; i < w->s->objects.n; i++)
        if (library_counts(&w->s->objects.p[i].r))
            w->objects[n++].o = &w->s->objects.p[i].r;
    qsort(w->objects, n, sizeof(*w->objects), objects_in_order);
    for (; w->n < n; w->n++)
        w->objects[w->n].key = new_key(w, WC_KIND_object, library_name(w->objects[w->n].o));
}

/* ---- the computer ---- */

static void write_environment(const struct writing *w) {
    const struct wc_process_record *p = &w->s->process;
    const struct wc_strings *list = &p->environment;

    for (size_t i = 0; w->paths && w->s->has_process && i < list->n; i++) {
        size_t n = strcspn(list->p[i], "=");
        char *name = must_format("%.*s", (int)n, list->p[i]);
        const char *value = list->p[i][n] ? list->p[i] + n + 1 : "";
        char *told =
            strcmp(name, "LD_PRELOAD") == 0 ? compare_preloads(p, value) : must_copy(value);
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || (strncmp(list->p[k], name, n) == 0 && strcspn(list->p[k], "=") == n);
        if (told && !again && !compare_passes_over(list->p[i])) {
            print_key(w->to, "environment", name);
            fputs(" = ", w->to);
            print_string(w->to, told);
            putc('\n', w->to);
        }
        free(told);
        free(name);
    }
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

static void write_package(struct writing *w, struct wc_package_record p) {
    char *key = new_key(w, WC_KIND_package, p.package);

    if (strcmp(key, p.package) == 0 && p.package_version)
        p.package = NULL;
    if (!w->paths)
        p.installation_path = NULL;
    print_record(w, WC_KIND_package, key, &p);
    free(key);
}

static void write_packages(struct writing *w) {
    const struct wc_stack *s = w->s;
    const struct wc_package_record **sorted = must_allocate((s->packages.n + 1) * sizeof(*sorted));
    size_t n = 0;

    for (size_t i = 0; i < s->packages.n; i++)
        if (s->packages.p[i].r.package)
            sorted[n++] = &s->packages.p[i].r;
    qsort(sorted, n, sizeof(*sorted), packages_in_order);
    for (size_t i = 0; i < n; i++)
        write_package(w, *sorted[i]);
    free(sorted);
}

/* ---- what hosts want and use ---- */

struct line_of { /* a demand or a binding */
    char *key;   /* which it would have as the only one */
    const void *record;
    char *order; /* all that tells it from others */
};

static int lines_in_order(const void *a, const void *b) {
    const struct line_of *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : strcmp(x->order, y->order);
}

static void lines_end(struct line_of *lines, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(lines[i].key);
        free(lines[i].order);
    }
    free(lines);
}

static char *text_of_demand(const struct wc_demand_record *d) {
    return must_format("%s\n%s\n%s\n%s", d->source ? d->source : "", d->spec ? d->spec : "",
                       d->built ? d->built : "", d->package ? d->package : "");
}

/* What was expected of this run is no property of the stack. */
static bool lasts(const struct wc_demand_record *d) {
    return (d->spec || d->built) && d->demand_kind != WC_demand_kind_EXPECTATION;
}

static void write_demand(struct writing *w, const struct line_of *line) {
    struct wc_demand_record d = *(const struct wc_demand_record *)line->record;
    char *key = new_key(w, WC_KIND_demand, line->key);

    d.host_path = key_of(w, d.host, d.host_path);
    print_record(w, WC_KIND_demand, key, &d);
    free(key);
}

static void write_demands(struct writing *w) {
    const struct wc_stack *s = w->s;
    struct line_of *lines = must_allocate((s->demands.n + 1) * sizeof(*lines));
    size_t n = 0;

    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *d = &s->demands.p[i].r;
        const char *kind = wc_enum_word(WC_ENUM_demand_kind, d->demand_kind);
        const char *host = key_of(w, d->host, d->host_path);
        if (lasts(d))
            lines[n++] = (struct line_of){
                must_format("%s%s%s", host ? host : "", host && kind ? " " : "", kind ? kind : ""),
                d, text_of_demand(d)};
    }
    qsort(lines, n, sizeof(*lines), lines_in_order);
    for (size_t i = 0; i < n; i++)
        write_demand(w, &lines[i]);
    lines_end(lines, n);
}

static void write_binding(struct writing *w, const struct line_of *line) {
    struct wc_binding_record b = *(const struct wc_binding_record *)line->record;
    char *key = new_key(w, WC_KIND_binding, line->key);

    b.host_path = key_of(w, b.host, b.host_path);
    b.target_path = key_of(w, b.target, b.target_path);
    print_record(w, WC_KIND_binding, key, &b);
    free(key);
}

/* How it was bound differs from run to run; a host that is bound in two ways is told once. */
static void write_bindings(struct writing *w) {
    const struct wc_stack *s = w->s;
    struct line_of *lines = must_allocate((s->bindings.n + 1) * sizeof(*lines));
    size_t n = 0;

    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct wc_binding_record *b = &s->bindings.p[i].r;
        const char *host = key_of(w, b->host, b->host_path);
        const char *target = key_of(w, b->target, b->target_path);
        if (target)
            lines[n++] = (struct line_of){must_copy(host ? host : ""), b, must_copy(target)};
    }
    qsort(lines, n, sizeof(*lines), lines_in_order);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || lines_in_order(&lines[i], &lines[i - 1]) != 0)
            write_binding(w, &lines[i]);
    lines_end(lines, n);
}

/* ---- libraries ---- */

/* $ORIGIN leads to the same place on every computer. */
static bool is_bound_to_computer(const char *directory) {
    return directory && *directory != '$';
}

static void write_search(const struct writing *w, const struct named *library) {
    const struct wc_search_record *found = library_search(w->s, library->o);
    struct wc_search_record f;

    if (!found)
        return;
    f = *found;
    if (!w->paths) {
        f.of = f.of ? wc_base_name(f.of) : NULL;
        f.element = is_bound_to_computer(f.element) ? NULL : f.element;
    }
    print_record(w, WC_KIND_search, library->key, &f);
}

/* The name is the line's own, where that is enough to know it again. */
static void write_object(const struct writing *w, const struct named *library) {
    struct wc_object_record o = *library->o;

    if (!w->paths) {
        o.path = library_name(&o);
        o.real_path = NULL;
        o.installation_path = NULL;
        o.gpu_library = o.gpu_library ? wc_base_name(o.gpu_library) : NULL;
    }
    if (o.path && strcmp(o.path, library->key) == 0)
        o.path = NULL;
    if (o.version)
        o.version_floor = o.version_ceiling = NULL;
    if (!o.version)
        o.version_source = WC_version_source_UNKNOWN;
    o.asked_by = key_of(w, o.asked_by_object, o.asked_by);
    print_record(w, WC_KIND_object, library->key, &o);
}

void lock_write(FILE *to, const struct source *source, bool paths) {
    struct writing w = {.to = to, .s = &source->stack, .paths = paths};

    fputs("# Which cuDNN a process got; `whichcudnn check` compares another with "
          "it.\n" LOCK_VERSION_KEY " = ",
          to);
    fprintf(to, "%d\n", LOCK_FORMAT);
    name_objects(&w);
    write_environment(&w);
    if (source->stack.has_machine)
        print_record(&w, WC_KIND_machine, NULL, &source->stack.machine);
    write_packages(&w);
    for (size_t i = 0; i < w.n; i++) {
        write_object(&w, &w.objects[i]);
        write_search(&w, &w.objects[i]);
    }
    write_demands(&w);
    write_bindings(&w);
    fputs(LOCK_END_KEY " = true\n", to);
    keys_end(&w);
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
