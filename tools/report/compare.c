/* See compare.h. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "tools/run/preload.h"

#define NO_PARTNER SIZE_MAX

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

/* The same of what is known, not of what is there. */
static void hold_fact(struct comparison *c, enum difference_kind kind, const char *what,
                      const char *attribute, char *a, char *b) {
    if ((!a && c->a_in_part) || (!b && c->b_in_part)) {
        free(a);
        free(b);
        return;
    }
    hold(c, kind, what, attribute, a, b);
}

static void hold_fact_texts(struct comparison *c, enum difference_kind kind, const char *what,
                            const char *attribute, const char *a, const char *b) {
    hold_fact(c, kind, what, attribute, copy_or_null(a), copy_or_null(b));
}

/* ---- which of the one belongs to which of the other ---- */

typedef bool alike(const struct wc_stack *a, size_t i, const struct wc_stack *b, size_t j);

struct pairs {
    size_t *of_a; /* what belongs to each of a; NO_PARTNER */
    bool *has_b;  /* for each of b */
};

static void pair_up_by(struct pairs *p, const struct wc_stack *a, size_t n,
                       const struct wc_stack *b, size_t m, alike *fits) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; p->of_a[i] == NO_PARTNER && j < m; j++)
            if (!p->has_b[j] && fits(a, i, b, j)) {
                p->of_a[i] = j;
                p->has_b[j] = true;
            }
}

/* Of several that are counterparts, the same ones first: in which order they came says nothing. */
static void pair_up(struct pairs *p, const struct wc_stack *a, size_t n, const struct wc_stack *b,
                    size_t m, alike *same, alike *counterpart) {
    p->of_a = must_allocate((n + 1) * sizeof(*p->of_a));
    p->has_b = must_allocate((m + 1) * sizeof(*p->has_b));
    for (size_t i = 0; i < n; i++)
        p->of_a[i] = NO_PARTNER;
    pair_up_by(p, a, n, b, m, same);
    pair_up_by(p, a, n, b, m, counterpart);
}

static void pairs_end(struct pairs *p) {
    free(p->of_a);
    free(p->has_b);
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

/* These print which process of a run it is, and so differ where all is well. */
bool compare_passes_over(const char *variable) {
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

    if (!compare_passes_over(variable))
        hold_texts(c, chooses_devices(name) ? DIFFERENCE_DRIVER : DIFFERENCE_ENVIRONMENT, name,
                   NULL, a, b);
    free(name);
}

char *compare_preloads(const struct wc_process_record *p, const char *list) {
    return list ? preload_without(list, p->shim_path ? p->shim_path : "libwhichcudnn.so") : NULL;
}

/* Whether we looked on is no difference. */
static void compare_preload_lists(struct comparison *c, const struct wc_process_record *a,
                                  const struct wc_process_record *b) {
    hold(c, DIFFERENCE_ENVIRONMENT, "LD_PRELOAD", NULL,
         compare_preloads(a, value_in(&a->environment, "LD_PRELOAD")),
         compare_preloads(b, value_in(&b->environment, "LD_PRELOAD")));
}

static bool is_preload_list(const char *variable) {
    return strcmp(variable, "LD_PRELOAD") == 0 || strncmp(variable, "LD_PRELOAD=", 11) == 0;
}

static void compare_environments(struct comparison *c, const struct wc_stack *a,
                                 const struct wc_stack *b) {
    const struct wc_strings *ours = &a->process.environment, *theirs = &b->process.environment;

    if (!a->has_process || !b->has_process)
        return;
    compare_preload_lists(c, &a->process, &b->process);
    for (size_t i = 0; i < ours->n; i++)
        if (!is_preload_list(ours->p[i]))
            compare_variable(c, ours->p[i], value_in(ours, ours->p[i]),
                             value_in(theirs, ours->p[i]));
    for (size_t i = 0; i < theirs->n; i++)
        if (!is_preload_list(theirs->p[i]) && !value_in(ours, theirs->p[i]))
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
    hold_fact_texts(c, DIFFERENCE_DRIVER, "driver", NULL, a->driver, b->driver);
    /* Only `run` asks for names, so a list may be missing where GPUs are. */
    if (a->gpus.n > 0 && b->gpus.n > 0)
        hold_fact(c, DIFFERENCE_DRIVER, "GPUs", NULL, list_text(&a->gpus), list_text(&b->gpus));
    hold_fact(c, DIFFERENCE_DRIVER, "number of GPU devices", NULL, count_text(a->gpu_devices),
              count_text(b->gpu_devices));
}

static void compare_surroundings(struct comparison *c, const struct wc_machine_record *a,
                                 const struct wc_machine_record *b) {
    hold_fact_texts(c, DIFFERENCE_SURROUNDINGS, "architecture", NULL, a->architecture,
                    b->architecture);
    hold_fact_texts(c, DIFFERENCE_SURROUNDINGS, "container", NULL, a->container, b->container);
    hold_fact_texts(c, DIFFERENCE_SURROUNDINGS, "glibc", NULL, a->glibc, b->glibc);
    hold_fact_texts(c, DIFFERENCE_SURROUNDINGS, "operating system", NULL, a->operating_system,
                    b->operating_system);
    hold_fact_texts(c, DIFFERENCE_SURROUNDINGS, "kernel", NULL, a->kernel, b->kernel);
}

/* ---- packages ---- */

static const struct wc_package_record *package_at(const struct wc_stack *s, size_t i) {
    return &s->packages.p[i].r;
}

static bool like_package(const struct wc_stack *a, size_t i, const struct wc_stack *b, size_t j) {
    return package_at(a, i)->installation_kind == package_at(b, j)->installation_kind &&
           wc_str_same(package_at(a, i)->package, package_at(b, j)->package);
}

static bool same_package(const struct wc_stack *a, size_t i, const struct wc_stack *b, size_t j) {
    return like_package(a, i, b, j) &&
           package_at(a, i)->package_state == package_at(b, j)->package_state &&
           wc_str_same(package_at(a, i)->package_version, package_at(b, j)->package_version);
}

static void compare_package(struct comparison *c, const struct wc_package_record *x,
                            const struct wc_package_record *y) {
    hold_fact_texts(c, DIFFERENCE_PACKAGE, x->package, "version", x->package_version,
                    y->package_version);
    hold_fact_texts(c, DIFFERENCE_PACKAGE, x->package, "state",
                    wc_enum_word(WC_ENUM_package_state, x->package_state),
                    wc_enum_word(WC_ENUM_package_state, y->package_state));
}

static char *package_there(const struct wc_package_record *p) {
    return must_copy(p->package_version ? p->package_version : "there");
}

/* One without a name is none that could be told apart. */
static void compare_packages(struct comparison *c, const struct wc_stack *a,
                             const struct wc_stack *b) {
    struct pairs pairs;

    pair_up(&pairs, a, a->packages.n, b, b->packages.n, same_package, like_package);
    for (size_t i = 0; i < a->packages.n; i++) {
        const struct wc_package_record *x = package_at(a, i);
        if (x->package && pairs.of_a[i] != NO_PARTNER)
            compare_package(c, x, package_at(b, pairs.of_a[i]));
        else if (x->package)
            hold(c, DIFFERENCE_PACKAGE, x->package, NULL, package_there(x), NULL);
    }
    for (size_t j = 0; j < b->packages.n; j++)
        if (!pairs.has_b[j] && package_at(b, j)->package)
            hold(c, DIFFERENCE_PACKAGE, package_at(b, j)->package, NULL, NULL,
                 package_there(package_at(b, j)));
    pairs_end(&pairs);
}

/* ---- libraries ---- */

/* The name up to ".so": libcudnn.so.8 is the counterpart of libcudnn.so.9. */
static bool same_stem(const struct wc_object_record *a, const struct wc_object_record *b) {
    const char *x = library_name(a), *y = library_name(b);
    const char *x_end = strstr(x, ".so"), *y_end = strstr(y, ".so");
    size_t n = x_end ? (size_t)(x_end - x) : strlen(x);

    return n == (y_end ? (size_t)(y_end - y) : strlen(y)) && memcmp(x, y, n) == 0;
}

static bool counterparts(const struct wc_object_record *a, const struct wc_object_record *b) {
    return a->role == b->role && wc_str_same(a->part, b->part) &&
           (a->role == WC_role_FACADE || a->part || same_stem(a, b));
}

static const struct wc_object_record *object_at(const struct wc_stack *s, size_t i) {
    return &s->objects.p[i].r;
}

static bool like_object(const struct wc_stack *a, size_t i, const struct wc_stack *b, size_t j) {
    return library_counts(object_at(a, i)) && library_counts(object_at(b, j)) &&
           counterparts(object_at(a, i), object_at(b, j));
}

static bool same_installation(const struct wc_object_record *x, const struct wc_object_record *y) {
    char *one = library_installation(x), *other = library_installation(y);
    bool same = wc_str_same(one, other);

    free(one);
    free(other);
    return same;
}

static bool same_object(const struct wc_stack *a, size_t i, const struct wc_stack *b, size_t j) {
    const struct wc_object_record *x = object_at(a, i), *y = object_at(b, j);

    return like_object(a, i, b, j) && strcmp(library_name(x), library_name(y)) == 0 &&
           wc_str_same(x->version, y->version) && wc_str_same(x->build_id, y->build_id) &&
           same_installation(x, y);
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

static bool has_element(const struct wc_stack *s, const struct wc_object_record *o) {
    const struct wc_search_record *f = library_search(s, o);

    return f && f->element;
}

/* A lock has no directories of the computer that it was made on. */
static void compare_searches(struct comparison *c, const struct wc_stack *a,
                             const struct wc_object_record *x, const struct wc_stack *b,
                             const struct wc_object_record *y) {
    bool element = (has_element(a, x) || !c->a_in_part) && (has_element(b, y) || !c->b_in_part);

    hold_fact(c, DIFFERENCE_FOUND, library_name(x), "rule", library_rule(a, x, element),
              library_rule(b, y, element));
    hold_fact(c, DIFFERENCE_FOUND, library_name(x), "installation", library_installation(x),
              library_installation(y));
}

/* A build is told apart only where the version is the same. */
static void compare_objects(struct comparison *c, const struct wc_object_record *x,
                            const struct wc_object_record *y) {
    size_t before = c->n;

    hold_fact_texts(c, kind_of(x), library_name(x), "SONAME", x->soname, y->soname);
    hold_fact(c, kind_of(x), library_name(x), "version", library_version(x), library_version(y));
    if (c->n == before && x->build_id && y->build_id)
        hold_texts(c, kind_of(x), library_name(x), "build-id", x->build_id, y->build_id);
}

/* What was unloaded again, only a log can know. */
static bool could_see(const struct source *s, const struct wc_object_record *o) {
    return o->mapped || s->type == SOURCE_LOG || s->type == SOURCE_LOCK;
}

static void compare_libraries(struct comparison *c, const struct source *left,
                              const struct source *right) {
    const struct wc_stack *a = &left->stack, *b = &right->stack;
    struct pairs pairs;

    pair_up(&pairs, a, a->objects.n, b, b->objects.n, same_object, like_object);
    for (size_t i = 0; i < a->objects.n; i++) {
        const struct wc_object_record *x = object_at(a, i), *y;
        if (pairs.of_a[i] != NO_PARTNER) {
            y = object_at(b, pairs.of_a[i]);
            compare_searches(c, a, x, b, y);
            compare_objects(c, x, y);
        } else if (library_counts(x) && could_see(right, x)) {
            hold(c, kind_of(x), library_name(x), NULL, presence(x), NULL);
        }
    }
    for (size_t j = 0; j < b->objects.n; j++) {
        const struct wc_object_record *y = object_at(b, j);
        if (!pairs.has_b[j] && library_counts(y) && could_see(left, y))
            hold(c, kind_of(y), library_name(y), NULL, NULL, presence(y));
    }
    pairs_end(&pairs);
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

/* By its path where it is no object, or not a known one; NULL: not known. */
static const char *name_of(const struct wc_stack *s, int64_t object, const char *path) {
    const struct wc_object *o = wc_stack_object(s, object);

    if (o && library_counts(&o->r))
        return library_name(&o->r);
    return path ? wc_base_name(path) : NULL;
}

static struct texts demands_of(const struct wc_stack *s) {
    struct texts t = {NULL, 0};

    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *d = &s->demands.p[i].r;
        const char *host = name_of(s, d->host, d->host_path);
        if ((d->spec || d->built) && d->demand_kind != WC_demand_kind_EXPECTATION)
            add_text(&t, must_format("what %s wants", host ? host : "a host"),
                     must_format("%s%s%s", d->spec ? d->spec : "", d->built ? " built with " : "",
                                 d->built ? d->built : ""));
    }
    return t;
}

static struct texts bindings_of(const struct wc_stack *s) {
    struct texts t = {NULL, 0};

    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct wc_binding_record *b = &s->bindings.p[i].r;
        const char *host = name_of(s, b->host, b->host_path);
        const char *target = name_of(s, b->target, b->target_path);
        if (target)
            add_text(&t, must_format("what %s is bound to", host ? host : "a host"),
                     must_copy(target));
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

/* Of a process they stand in its memory, which may not be readable; a lock may be of one. */
static bool sees_bindings(const struct source *s) {
    return s->type == SOURCE_LOG || s->stack.bindings.n > 0;
}

void compare(struct comparison *c, const struct source *a, const struct source *b) {
    const struct wc_stack *x = &a->stack, *y = &b->stack;

    *c = (struct comparison){.a_in_part = a->type == SOURCE_LOCK,
                             .b_in_part = b->type == SOURCE_LOCK};
    compare_environments(c, x, y);
    compare_packages(c, x, y);
    compare_libraries(c, a, b);
    compare_lists(c, DIFFERENCE_HOST, demands_of, x, y);
    if (x->has_machine && y->has_machine) {
        compare_drivers(c, &x->machine, &y->machine);
        compare_surroundings(c, &x->machine, &y->machine);
    }
    if (sees_bindings(a) && sees_bindings(b))
        compare_lists(c, DIFFERENCE_BINDING, bindings_of, x, y);
    if (a->type == SOURCE_LOG && b->type == SOURCE_LOG) {
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
