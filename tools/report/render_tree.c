/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was resolved, as a tree: each host, the facade that it got, the parts of that; then what
 * hangs on nothing, the cuda_dependencies, and what was requested without success. A library is a
 * line: path, version, by which rule it was found, whose installation.
 */
#include <stdlib.h>
#include <string.h>

#include "core/demand/finding.h"
#include "core/knowledge/programs.h"
#include "core/names/names.h"
#include "library.h"
#include "render.h"
#include "tools/util/layout.h"

struct tree {
    struct layout *l;
    const struct report *r;
    const struct wc_stack *s;
    size_t facades;      /* how many there are */
    bool *shown, *bound; /* one for each object; bound: the host of this moment is bound to it */
    struct wc_case words;
};

/* Columns of a line; what it goes on with stands two further. */
#define INDENT(depth) (2 + 2 * (depth))

/* A host's own version is its package's, so only libraries of cuDNN and CUDA emit theirs. In the
 * colour of the worst that is printed of this object. */
static void add_version(const struct tree *t, const struct wc_object_record *o) {
    OWNED char *version = library_version(o);
    const char *source = wc_enum_word(WC_ENUM_version_source, o->version_source);
    enum wc_severity worst = WC_severity_NONE;

    WC_EACH(f, t->r->findings)
        if (f->object != WC_NULL && f->object == o->object && f->severity > worst)
            worst = f->severity;
    if (version)
        layout_painted(t->l, version,
                       worst >= WC_severity_WARNING ? paint_of_severity(worst) : PAINT_BOLD);
    else if (o->role == WC_role_FACADE || o->role == WC_role_PART)
        layout_words(t->l, "version not known");
    if (t->l->whole && o->version && source)
        layout_words(t->l, "(%s)", source);
}

#define VERSION_ROOM 12 /* columns that nearly every version fits in */

static void print_object(struct tree *t, size_t i, int depth) {
    const struct wc_object_record *o = &t->s->objects.p[i].r;
    OWNED char *rule = library_rule(library_search(t->s, o), t->l->whole);
    OWNED char *installation = library_installation(o);
    const char *path = library_path(o), *how = wc_enum_word(WC_ENUM_operation, o->asked_how);

    layout_line(t->l, INDENT(depth), INDENT(depth) + 2);
    layout_word(t->l, library_label(o));
    if (!t->l->whole && wc_program_is(path, WC_PROGRAM_LIBRARY)) /* known by this name */
        path = wc_format_asker(&t->words, path);
    layout_path(t->l, path, VERSION_ROOM);
    if (t->shown[i]) {
        layout_words(t->l, "(the same)");
    } else {
        add_version(t, o);
        if (rule)
            layout_together(t->l, "[%s]", rule);
        if (installation)
            layout_together(t->l, "%s", installation);
    }
    if (!o->mapped)
        layout_words(t->l, t->s->replayed ? "(does not load)" : "(unloaded again)");
    layout_end(t->l);
    if (!t->shown[i] && t->l->whole && (o->asked_name || o->asked_by))
        layout_row(t->l, INDENT(depth + 1), INDENT(depth + 2), "asked for%s%s%s%s%s%s%s",
                   o->asked_name ? " as " : "", o->asked_name, o->asked_by ? " by " : "",
                   o->asked_by, how ? " (" : "", how, how ? ")" : "");
    t->shown[i] = true;
}

/* With its parts: those that it requested, or was installed with, or all if there is no other. */
static void print_facade(struct tree *t, size_t facade, int depth) {
    const struct wc_object *o = t->s->objects.p;
    bool again = t->shown[facade];

    print_object(t, facade, depth);
    for (size_t i = 0; i < t->s->objects.n && !again; i++) {
        if (o[i].r.role != WC_role_PART || t->shown[i])
            continue;
        const struct wc_object *asker = wc_stack_object(t->s, o[i].r.asked_by_object);
        if (asker && asker->r.role == WC_role_FACADE
                ? asker == &o[facade]
                : wc_same_installation(&o[i], &o[facade]) || t->facades == 1)
            print_object(t, i, depth + 1);
    }
}

static void print_host(struct tree *t, size_t host) {
    const struct wc_object *objects = t->s->objects.p;
    const int64_t number = objects[host].r.object;
    bool got = false;

    print_object(t, host, 0);
    WC_EACH(d, t->s->demands) {
        const char *spec = d->r.spec, *built = d->r.built, *source = d->r.source;
        if (d->r.host == number && (spec || built))
            layout_row(t->l, INDENT(1), INDENT(2), "wants%s%s%s%s%s%s%s%s", spec ? " " : "", spec,
                       spec && built ? "," : "", built ? " built with " : "", built,
                       source ? " (" : "", source, source ? ")" : "");
    }
    memset(t->bound, 0, t->s->objects.n);
    WC_EACH(b, t->s->bindings) {
        const struct wc_object *o = b->r.host == number ? wc_stack_object(t->s, b->r.target) : NULL;
        if (o)
            t->bound[o - objects] = true;
    }
    for (size_t i = 0; i < t->s->objects.n; i++) {
        const int64_t asker = objects[i].r.asked_by_object;
        if (objects[i].r.role == WC_role_FACADE &&
            (t->bound[i] || (asker != WC_NULL && asker == number))) {
            print_facade(t, i, 1);
            got = true;
        }
    }
    if (!got)
        layout_row(t->l, INDENT(1), INDENT(2), "got no cuDNN that was seen");
}

static void print_rest(struct tree *t, enum wc_role role) {
    for (size_t i = 0; i < t->s->objects.n; i++) {
        if (t->s->objects.p[i].r.role != role || t->shown[i])
            continue;
        if (role == WC_role_FACADE)
            print_facade(t, i, 0);
        else
            print_object(t, i, 0);
    }
}

static void print_failures(const struct tree *t) {
    bool any = false;

    WC_EACH(failure, t->s->failures) {
        const struct wc_failure_record *f = &failure->r;
        const struct wc_name name = wc_name_read(f->name);
        /* A facade asks for each part by several names in turn: where one of them was answered, the
         * others are not failures. */
        if (name.kind == WC_NAME_PART && !f->function &&
            WC_ANY(o, t->s->objects,
                   o->r.role == WC_role_PART && wc_str_same(o->r.part, name.part) &&
                       wc_str_same(o->r.asked_by, f->caller)))
            continue;
        fputs(any ? "" : "\nrequests that failed\n", t->l->to);
        any = true;
        layout_line(t->l, INDENT(0), INDENT(0) + 2);
        layout_words(t->l, "%s%s%s", f->function, f->function && f->name ? " in " : "",
                     f->name || f->function ? f->name : "?");
        if (f->caller)
            layout_words(t->l, "by %s:", f->caller);
        layout_words(t->l, "%s", f->text ?: "nothing answers to that name");
        layout_end(t->l);
    }
}

void render_tree(struct layout *l, const struct report *r) {
    const struct wc_stack *s = &r->source->stack;
    struct heap_arena memory;
    struct wc_diagnosis names = {.s = s, .scratch = &memory.arena};
    struct tree t = {.l = l, .r = r, .s = s, .words = {.d = &names}};

    heap_arena_begin(&memory);
    t.shown = must_allocate(s->objects.n);
    t.bound = must_allocate(s->objects.n);
    WC_EACH(o, s->objects)
        t.facades += o->r.role == WC_role_FACADE;
    if (s->objects.n > 0)
        fputs("\nlibraries: path, version, [rule by which it was found], installation\n", l->to);
    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.p[i].r.role == WC_role_HOST || s->objects.p[i].r.is_host)
            print_host(&t, i);
    print_rest(&t, WC_role_FACADE);
    print_rest(&t, WC_role_PART);
    print_rest(&t, WC_role_CUDA_DEPENDENCY);
    print_failures(&t);
    free(t.shown);
    free(t.bound);
    heap_arena_end(&memory);
}
