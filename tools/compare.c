/* See compare.h. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "library.h"

static char *copy_or_null(const char *s) {
    return s ? must_copy(s) : NULL;
}

/* Takes what, a and b. */
static void add(struct comparison *c, struct difference d) {
    c->p = must_grow(c->p, (c->n + 1) * sizeof(*c->p));
    c->p[c->n++] = d;
}

/* Adds if they differ; takes a and b. */
static void hold(struct comparison *c, enum difference_kind kind, const char *what,
                 const char *attribute, char *a, char *b) {
    if (!wc_str_same(a, b)) {
        add(c, (struct difference){kind, must_copy(what), attribute, a, b});
        return;
    }
    free(a);
    free(b);
}

static void hold_texts(struct comparison *c, enum difference_kind kind, const char *what,
                       const char *attribute, const char *a, const char *b) {
    hold(c, kind, what, attribute, copy_or_null(a), copy_or_null(b));
}

/* ---- the environment ---- */

static size_t name_length(const char *variable) {
    return strcspn(variable, "=");
}

static const char *value_in(const struct wc_strings *environment, const char *variable) {
    size_t n = name_length(variable);

    for (size_t i = 0; i < environment->n; i++) {
        const char *e = environment->p[i];
        if (name_length(e) == n && memcmp(e, variable, n) == 0)
            return e[n] ? e + n + 1 : "";
    }
    return NULL;
}

/* These say which process of a run it is, and so differ where all is well. */
static bool tells_rank(const char *variable) {
    static const char *const starts[] = {
        "RANK=", "LOCAL_RANK=", "WORLD_SIZE=", "GROUP_RANK=", "SLURM_", "OMPI_COMM_WORLD_", "PMI_"};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(variable, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static bool chooses_devices(const char *name) {
    return strcmp(name, "CUDA_VISIBLE_DEVICES") == 0 || strcmp(name, "NVIDIA_VISIBLE_DEVICES") == 0;
}

static void compare_variable(struct comparison *c, const char *variable, const char *a,
                             const char *b) {
    char *name = must_format("%.*s", (int)name_length(variable), variable);

    if (!tells_rank(variable))
        hold_texts(c, chooses_devices(name) ? DIFFERENCE_DRIVER : DIFFERENCE_ENVIRONMENT, name,
                   NULL, a, b);
    free(name);
}

static void compare_environments(struct comparison *c, const struct wc_stack *a,
                                 const struct wc_stack *b) {
    const struct wc_strings *ours = &a->process.environment, *theirs = &b->process.environment;

    if (!a->has_process || !b->has_process)
        return;
    for (size_t i = 0; i < ours->n; i++)
        compare_variable(c, ours->p[i], value_in(ours, ours->p[i]), value_in(theirs, ours->p[i]));
    for (size_t i = 0; i < theirs->n; i++)
        if (!value_in(ours, theirs->p[i]))
            compare_variable(c, theirs->p[i], NULL, value_in(theirs, theirs->p[i]));
}

/* ---- the computer ---- */

static char *list_text(const struct wc_strings *list) {
    char *all = NULL, *longer;

    for (size_t i = 0; i < list->n; i++) {
        longer = must_format("%s%s%s", all ? all : "", all ? "; " : "", list->p[i]);
        free(all);
        all = longer;
    }
    return all;
}

static char *count_text(int64_t n) {
    return n == WC_NULL ? NULL : must_format("%lld", (long long)n);
}

static void compare_drivers(struct comparison *c, const struct wc_machine_record *a,
                            const struct wc_machine_record *b) {
    hold_texts(c, DIFFERENCE_DRIVER, "driver", NULL, a->driver, b->driver);
    /* Only `run` asks for names, so a list may be missing where GPUs are. */
    if (a->gpus.n > 0 && b->gpus.n > 0)
        hold(c, DIFFERENCE_DRIVER, "GPUs", NULL, list_text(&a->gpus), list_text(&b->gpus));
    hold(c, DIFFERENCE_DRIVER, "number of GPU devices", NULL, count_text(a->gpu_devices),
         count_text(b->gpu_devices));
}

static void compare_surroundings(struct comparison *c, const struct wc_machine_record *a,
                                 const struct wc_machine_record *b) {
    hold_texts(c, DIFFERENCE_SURROUNDINGS, "architecture", NULL, a->architecture, b->architecture);
    hold_texts(c, DIFFERENCE_SURROUNDINGS, "container", NULL, a->container, b->container);
    hold_texts(c, DIFFERENCE_SURROUNDINGS, "glibc", NULL, a->glibc, b->glibc);
    hold_texts(c, DIFFERENCE_SURROUNDINGS, "operating system", NULL, a->operating_system,
               b->operating_system);
    hold_texts(c, DIFFERENCE_SURROUNDINGS, "kernel", NULL, a->kernel, b->kernel);
}

/* ---- packages ---- */

static const struct wc_package_record *package_like(const struct wc_stack *s,
                                                    const struct wc_package_record *p) {
    for (size_t i = 0; i < s->packages.n; i++)
        if (s->packages.p[i].r.installation_kind == p->installation_kind &&
            wc_str_same(s->packages.p[i].r.name, p->name))
            return &s->packages.p[i].r;
    return NULL;
}

static const char *name_of_package(const struct wc_package_record *p) {
    return p->name ? p->name : "a package";
}

static void compare_packages(struct comparison *c, const struct wc_stack *a,
                             const struct wc_stack *b) {
    for (size_t i = 0; i < a->packages.n; i++) {
        const struct wc_package_record *x = &a->packages.p[i].r, *y = package_like(b, x);
        hold_texts(c, DIFFERENCE_PACKAGE, name_of_package(x), NULL,
                   x->version ? x->version : "there",
                   !y           ? NULL
                   : y->version ? y->version
                                : "there");
        if (y)
            hold_texts(c, DIFFERENCE_PACKAGE, name_of_package(x), "state",
                       wc_enum_word(WC_ENUM_package_state, x->state),
                       wc_enum_word(WC_ENUM_package_state, y->state));
    }
    for (size_t i = 0; i < b->packages.n; i++) {
        const struct wc_package_record *y = &b->packages.p[i].r;
        if (!package_like(a, y))
            hold_texts(c, DIFFERENCE_PACKAGE, name_of_package(y), NULL, NULL,
                       y->version ? y->version : "there");
    }
}

/* ---- libraries ---- */

static const char *file_name(const struct wc_object_record *o) {
    return wc_base_name(o->soname && o->role != WC_role_HOST ? o->soname : library_path(o));
}

/* The name up to ".so": libcudnn.so.8 is the counterpart of libcudnn.so.9. */
static bool same_stem(const struct wc_object_record *a, const struct wc_object_record *b) {
    const char *x = file_name(a), *y = file_name(b);
    const char *x_end = strstr(x, ".so"), *y_end = strstr(y, ".so");
    size_t n = x_end ? (size_t)(x_end - x) : strlen(x);

    return n == (y_end ? (size_t)(y_end - y) : strlen(y)) && memcmp(x, y, n) == 0;
}

static bool counterparts(const struct wc_object_record *a, const struct wc_object_record *b) {
    return a->role == b->role && wc_str_same(a->part, b->part) &&
           (a->role == WC_role_FACADE || a->part || same_stem(a, b));
}

static bool counts(const struct wc_object *o) {
    return o->r.role != WC_role_OTHER || o->r.is_host;
}

/* How many like it come before: the second copy is compared with the second one. */
static size_t place_of(const struct wc_stack *s, const struct wc_object_record *o) {
    size_t n = 0;

    for (size_t i = 0; &s->objects.p[i].r != o; i++)
        n += counterparts(&s->objects.p[i].r, o);
    return n;
}

static const struct wc_object_record *counterpart(const struct wc_stack *s,
                                                  const struct wc_object_record *o, size_t place) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (counterparts(&s->objects.p[i].r, o) && place-- == 0)
            return &s->objects.p[i].r;
    return NULL;
}

static enum difference_kind kind_of(const struct wc_object_record *o) {
    return o->role == WC_role_HOST ? DIFFERENCE_HOST : DIFFERENCE_LIBRARY;
}

static char *presence(const struct wc_object_record *o) {
    char *version = library_version(o), *text;

    if (!version)
        return must_copy(library_path(o));
    text = must_format("%s, %s", version, library_path(o));
    free(version);
    return text;
}

static void compare_findings_of(struct comparison *c, const struct wc_stack *a,
                                const struct wc_object_record *x, const struct wc_stack *b,
                                const struct wc_object_record *y) {
    hold(c, DIFFERENCE_FOUND, file_name(x), "rule", library_rule(a, x, true),
         library_rule(b, y, true));
    hold(c, DIFFERENCE_FOUND, file_name(x), "installation", library_installation(x),
         library_installation(y));
}

/* A build is told apart only where the version is the same. */
static void compare_objects(struct comparison *c, const struct wc_object_record *x,
                            const struct wc_object_record *y) {
    size_t before = c->n;

    hold_texts(c, kind_of(x), file_name(x), "SONAME", x->soname, y->soname);
    hold(c, kind_of(x), file_name(x), "version", library_version(x), library_version(y));
    if (c->n == before && x->build_id && y->build_id)
        hold_texts(c, kind_of(x), file_name(x), "build-id", x->build_id, y->build_id);
}

static void compare_libraries(struct comparison *c, const struct wc_stack *a,
                              const struct wc_stack *b) {
    for (size_t i = 0; i < a->objects.n; i++) {
        const struct wc_object_record *x = &a->objects.p[i].r;
        const struct wc_object_record *y = counterpart(b, x, place_of(a, x));
        if (!counts(&a->objects.p[i]))
            continue;
        if (!y) {
            hold(c, kind_of(x), file_name(x), NULL, presence(x), NULL);
            continue;
        }
        compare_findings_of(c, a, x, b, y);
        compare_objects(c, x, y);
    }
    for (size_t i = 0; i < b->objects.n; i++) {
        const struct wc_object_record *y = &b->objects.p[i].r;
        if (counts(&b->objects.p[i]) && !counterpart(a, y, place_of(b, y)))
            hold(c, kind_of(y), file_name(y), NULL, NULL, presence(y));
    }
}

/* ---- what each source may have several of, compared as texts ---- */

struct texts {
    char **p; /* what, text, what, text */
    size_t n;
};

static void add_text(struct texts *t, char *what, char *text) {
    t->p = must_grow(t->p, (t->n + 2) * sizeof(*t->p));
    t->p[t->n++] = what;
    t->p[t->n++] = text;
}

static bool has_text(const struct texts *t, const char *what, const char *text) {
    for (size_t i = 0; i < t->n; i += 2)
        if (strcmp(t->p[i], what) == 0 && strcmp(t->p[i + 1], text) == 0)
            return true;
    return false;
}

static const char *other_text(const struct texts *t, const struct texts *than, const char *what) {
    for (size_t i = 0; i < t->n; i += 2)
        if (strcmp(t->p[i], what) == 0 && !has_text(than, what, t->p[i + 1]))
            return t->p[i + 1];
    return NULL;
}

static void texts_end(struct texts *t) {
    for (size_t i = 0; i < t->n; i++)
        free(t->p[i]);
    free(t->p);
}

/* What is on one side alone; where both have another text of the same thing, these two. */
static void compare_texts(struct comparison *c, enum difference_kind kind, struct texts *a,
                          struct texts *b) {
    for (size_t i = 0; i < a->n; i += 2)
        if (!has_text(b, a->p[i], a->p[i + 1]))
            hold_texts(c, kind, a->p[i], NULL, a->p[i + 1], other_text(b, a, a->p[i]));
    for (size_t i = 0; i < b->n; i += 2)
        if (!has_text(a, b->p[i], b->p[i + 1]) && !other_text(a, b, b->p[i]))
            hold_texts(c, kind, b->p[i], NULL, NULL, b->p[i + 1]);
    texts_end(a);
    texts_end(b);
}

static const char *name_of_path(const char *path) {
    return path ? wc_base_name(path) : "an object";
}

static struct texts demands_of(const struct wc_stack *s) {
    struct texts t = {NULL, 0};

    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *d = &s->demands.p[i].r;
        if (d->spec || d->built)
            add_text(&t, must_format("what %s wants", name_of_path(d->host_path)),
                     must_format("%s%s%s", d->spec ? d->spec : "", d->built ? " built with " : "",
                                 d->built ? d->built : ""));
    }
    return t;
}

static struct texts bindings_of(const struct wc_stack *s) {
    struct texts t = {NULL, 0};

    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct wc_binding_record *b = &s->bindings.p[i].r;
        add_text(&t, must_format("what %s is bound to", name_of_path(b->host_path)),
                 must_copy(name_of_path(b->target_path)));
    }
    return t;
}

static struct texts failures_of(const struct wc_stack *s) {
    struct texts t = {NULL, 0};

    for (size_t i = 0; i < s->failures.n; i++) {
        const struct wc_failure_record *f = &s->failures.p[i].r;
        add_text(&t,
                 must_format("%s%s%s", f->function ? f->function : "",
                             f->function && f->name ? " in " : "",
                             f->name       ? wc_base_name(f->name)
                             : f->function ? ""
                                           : "the program itself"),
                 must_copy("asked for in vain"));
    }
    return t;
}

static struct texts calls_of(const struct wc_stack *s) {
    struct texts t = {NULL, 0};

    for (size_t i = 0; i < s->calls.n; i++) {
        const struct wc_call_record *e = &s->calls.p[i].r;
        if (e->phase != WC_phase_AFTER || e->status == WC_NULL || !e->function)
            continue;
        add_text(&t, must_copy(e->function),
                 e->status_name ? must_copy(e->status_name)
                                : must_format("status %lld", (long long)e->status));
    }
    return t;
}

static void compare_lists(struct comparison *c, enum difference_kind kind,
                          struct texts (*list)(const struct wc_stack *s), const struct wc_stack *a,
                          const struct wc_stack *b) {
    struct texts ours = list(a), theirs = list(b);

    compare_texts(c, kind, &ours, &theirs);
}

/* ---- all of it ---- */

static void in_order(struct comparison *c) {
    struct difference *sorted = must_allocate((c->n + 1) * sizeof(*sorted));
    size_t n = 0;

    for (unsigned kind = 0; kind <= DIFFERENCE_SURROUNDINGS; kind++)
        for (size_t i = 0; i < c->n; i++)
            if ((unsigned)c->p[i].kind == kind)
                sorted[n++] = c->p[i];
    free(c->p);
    c->p = sorted;
}

void compare(struct comparison *c, const struct source *a, const struct source *b) {
    const struct wc_stack *x = &a->stack, *y = &b->stack;

    *c = (struct comparison){NULL, 0};
    compare_environments(c, x, y);
    compare_packages(c, x, y);
    compare_libraries(c, x, y);
    compare_lists(c, DIFFERENCE_HOST, demands_of, x, y);
    if (x->has_machine && y->has_machine) {
        compare_drivers(c, &x->machine, &y->machine);
        compare_surroundings(c, &x->machine, &y->machine);
    }
    if (a->type == SOURCE_LOG && b->type == SOURCE_LOG) {
        compare_lists(c, DIFFERENCE_BINDING, bindings_of, x, y);
        compare_lists(c, DIFFERENCE_FAILURE, failures_of, x, y);
        compare_lists(c, DIFFERENCE_CALL, calls_of, x, y);
    }
    in_order(c);
}

void comparison_end(struct comparison *c) {
    for (size_t i = 0; i < c->n; i++) {
        free(c->p[i].what);
        free(c->p[i].a);
        free(c->p[i].b);
    }
    free(c->p);
}

const char *difference_word(enum difference_kind kind) {
    static const char *const words[] = {"environment", "package", "host",    "found", "library",
                                        "binding",     "driver",  "failure", "call",  "computer"};

    return words[kind];
}

static const char *or_none(const char *s) {
    return !s ? "none" : *s ? s : "empty";
}

char *difference_text(const struct difference *d) {
    return must_format("%s%s%s: %s, not %s", d->attribute ? d->attribute : "",
                       d->attribute ? " of " : "", d->what, or_none(d->b), or_none(d->a));
}
