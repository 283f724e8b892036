/*
 * What was resolved, as a tree: each host, the facade that it got, the parts of that; then what
 * hangs on nothing, the companions, and what was asked for in vain.
 */
#include <stdlib.h>

#include "render.h"
#include "terminal.h"
#include "whichcudnn/names.h"

struct tree {
    FILE *to;
    const struct wc_stack *s;
    bool *shown; /* one for each object */
};

static void indent(const struct tree *t, int depth) {
    fprintf(t->to, "%*s", 2 + 2 * depth, "");
}

static const char *path_of(const struct wc_object_record *o) {
    if (o->real_path || o->path)
        return o->real_path ? o->real_path : o->path;
    return o->soname ? o->soname : "a file whose name is not known";
}

static bool is_host(const struct wc_object *o) {
    return o->r.role == WC_role_HOST || o->r.is_host;
}

static void print_range(FILE *to, const struct wc_object_record *o) {
    fputs("version not known", to);
    if (o->version_floor)
        print_format(to, ", not older than %s", o->version_floor);
    if (o->version_ceiling)
        print_format(to, ", not newer than %s", o->version_ceiling);
    if (o->version_floor || o->version_ceiling)
        fputs(" by its functions", to);
}

static void print_version(FILE *to, const struct wc_object_record *o) {
    const char *source = wc_enum_word(WC_ENUM_version_source, o->version_source);

    if (!o->version)
        print_range(to, o);
    else if (source)
        print_format(to, "%s (%s)", o->version, source);
    else
        print_text(to, o->version);
}

static void print_installation(FILE *to, const struct wc_object_record *o) {
    const char *kind = wc_enum_word(WC_ENUM_installation_kind, o->installation_kind);

    if (!kind && !o->installation)
        return;
    print_format(to, ", %s%s%s", kind ? kind : "", kind && o->installation ? " " : "",
                 o->installation);
    if (o->installation_version)
        print_format(to, " %s", o->installation_version);
}

/* A host's own version is its package's, so only libraries of cuDNN and CUDA tell theirs. */
static bool tells_version(const struct wc_object_record *o) {
    return o->role == WC_role_FACADE || o->role == WC_role_PART || o->version;
}

/* By the loader's rules, where their replay led to this very file. */
static void print_rule(const struct tree *t, const struct wc_object_record *o) {
    for (size_t i = 0; i < t->s->searches.n; i++) {
        const struct wc_search_record *f = &t->s->searches.p[i].r;
        if (f->object == WC_NULL || f->object != o->object || !f->rule ||
            f->rule == WC_search_rule_LOADED)
            continue;
        print_format(t->to, " [%s", wc_enum_word(WC_ENUM_search_rule, f->rule));
        if (f->of)
            print_format(t->to, " of %s", wc_base_name(f->of));
        if (f->element)
            print_format(t->to, ": %s", f->element);
        putc(']', t->to);
        return;
    }
}

static void print_asker(const struct tree *t, const struct wc_object_record *o, int depth) {
    const char *how = wc_enum_word(WC_ENUM_operation, o->asked_how);

    if (!o->asked_name && !o->asked_by)
        return;
    indent(t, depth);
    fputs("asked for", t->to);
    if (o->asked_name)
        print_format(t->to, " as %s", o->asked_name);
    if (o->asked_by)
        print_format(t->to, " by %s", o->asked_by);
    if (how)
        print_format(t->to, " (%s)", how);
    print_rule(t, o);
    putc('\n', t->to);
}

static void print_details(const struct tree *t, const struct wc_object_record *o, int depth) {
    if (tells_version(o)) {
        indent(t, depth);
        print_version(t->to, o);
        print_installation(t->to, o);
        putc('\n', t->to);
    }
    print_asker(t, o, depth);
}

static void print_object(const struct tree *t, size_t i, int depth) {
    const struct wc_object *o = &t->s->objects.p[i];
    const char *label = o->r.part ? o->r.part : wc_enum_word(WC_ENUM_role, o->r.role);

    indent(t, depth);
    print_format(t->to, "%s %s%s%s\n", label ? label : "object", path_of(&o->r),
                 o->r.mapped ? "" : " (unloaded again)", t->shown[i] ? " (see above)" : "");
    if (!t->shown[i])
        print_details(t, &o->r, depth + 1);
    t->shown[i] = true;
}

static size_t count_facades(const struct wc_stack *s) {
    size_t n = 0;

    for (size_t i = 0; i < s->objects.n; i++)
        n += s->objects.p[i].r.role == WC_role_FACADE;
    return n;
}

/* The one that asked for it, else the one it was installed with, else the only one there is. */
static bool belongs_to(const struct wc_stack *s, const struct wc_object *part,
                       const struct wc_object *facade) {
    const struct wc_object *asker = wc_stack_object(s, part->r.asked_by_object);

    if (asker && asker->r.role == WC_role_FACADE)
        return asker == facade;
    return wc_same_installation(part, facade) || count_facades(s) == 1;
}

static void print_facade(const struct tree *t, size_t facade, int depth) {
    bool again = t->shown[facade];

    print_object(t, facade, depth);
    for (size_t i = 0; i < t->s->objects.n && !again; i++)
        if (t->s->objects.p[i].r.role == WC_role_PART && !t->shown[i] &&
            belongs_to(t->s, &t->s->objects.p[i], &t->s->objects.p[facade]))
            print_object(t, i, depth + 1);
}

static bool is_bound(const struct wc_stack *s, int64_t host, int64_t target) {
    for (size_t i = 0; i < s->bindings.n; i++)
        if (s->bindings.p[i].r.host == host && s->bindings.p[i].r.target == target)
            return true;
    return false;
}

static bool uses(const struct wc_stack *s, const struct wc_object *host,
                 const struct wc_object *facade) {
    return is_bound(s, host->r.object, facade->r.object) ||
           (facade->r.asked_by_object != WC_NULL && facade->r.asked_by_object == host->r.object);
}

static void print_demands(const struct tree *t, const struct wc_object *host, int depth) {
    for (size_t i = 0; i < t->s->demands.n; i++) {
        const struct wc_demand_record *d = &t->s->demands.p[i].r;
        if (d->host != host->r.object || !(d->spec || d->built))
            continue;
        indent(t, depth);
        print_format(t->to, "wants %s", d->spec ? d->spec : "");
        if (d->built)
            print_format(t->to, "%sbuilt with %s", d->spec ? ", " : "", d->built);
        if (d->source)
            print_format(t->to, " (%s)", d->source);
        putc('\n', t->to);
    }
}

static void print_host(const struct tree *t, size_t host) {
    const struct wc_object *objects = t->s->objects.p;
    bool got = false;

    print_object(t, host, 0);
    print_demands(t, &objects[host], 1);
    for (size_t i = 0; i < t->s->objects.n; i++) {
        if (objects[i].r.role != WC_role_FACADE || !uses(t->s, &objects[host], &objects[i]))
            continue;
        print_facade(t, i, 1);
        got = true;
    }
    if (!got) {
        indent(t, 1);
        fputs("got no cuDNN that was seen\n", t->to);
    }
}

static void print_rest(const struct tree *t, enum wc_role role) {
    for (size_t i = 0; i < t->s->objects.n; i++) {
        if (t->s->objects.p[i].r.role != role || t->shown[i])
            continue;
        if (role == WC_role_FACADE)
            print_facade(t, i, 0);
        else
            print_object(t, i, 0);
    }
}

/* A facade asks for each part by several names in turn: where one of them was answered, the others
 * are no failures. */
static bool was_answered(const struct wc_stack *s, const struct wc_failure_record *f) {
    struct wc_name name;

    wc_name_read(f->name, &name);
    for (size_t i = 0; name.kind == WC_NAME_PART && !f->function && i < s->objects.n; i++) {
        const struct wc_object_record *o = &s->objects.p[i].r;
        if (o->role == WC_role_PART && wc_str_same(o->part, name.part) &&
            wc_str_same(o->asked_by, f->caller))
            return true;
    }
    return false;
}

static void print_failures(const struct tree *t) {
    bool any = false;

    for (size_t i = 0; i < t->s->failures.n; i++) {
        const struct wc_failure_record *f = &t->s->failures.p[i].r;
        if (was_answered(t->s, f))
            continue;
        if (!any)
            fputs("\nasked for in vain\n", t->to);
        any = true;
        indent(t, 0);
        print_format(t->to, "%s", f->function ? f->function : f->name ? f->name : "?");
        if (f->function && f->name)
            print_format(t->to, " in %s", f->name);
        if (f->caller)
            print_format(t->to, " by %s", f->caller);
        print_format(t->to, ": %s\n", f->text ? f->text : "nothing answers to that name");
    }
}

void render_tree(FILE *to, const struct wc_stack *s) {
    struct tree t = {to, s, must_allocate(s->objects.n + 1)};

    if (s->objects.n > 0)
        fputs("\nwhat was resolved\n", to);
    for (size_t i = 0; i < s->objects.n; i++)
        if (is_host(&s->objects.p[i]))
            print_host(&t, i);
    print_rest(&t, WC_role_FACADE);
    print_rest(&t, WC_role_PART);
    print_rest(&t, WC_role_COMPANION);
    print_failures(&t);
    free(t.shown);
}
