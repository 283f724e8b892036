/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "making.h"
#include "tools/diagnose/setter.h"

struct edit make_variable(const char *name, const char *value) {
    return *value ? (struct edit){.kind = EDIT_SET, .name = name, .value = value}
                  : (struct edit){.kind = EDIT_UNSET, .name = name};
}

struct edit make_path(const char *value) {
    return make_variable("LD_LIBRARY_PATH", value);
}

const char *candidates_given_part(const struct wc_stack *s) {
    const char *value = wc_variable(s, "LD_LIBRARY_PATH") ?: "",
               *given = wc_variable(s, "WHICHCUDNN_RUN_LD_LIBRARY_PATH") ?: "";
    const size_t n = wc_str_ends(value, given) ? strlen(value) - strlen(given) : 0;

    return *given ? (n > 1 && value[n - 1] == ':' ? value + n : NULL)
                  : (setter_is_itself(s, value) ? value + n : NULL);
}

/* "a/b" for "a/x/../b", as a RUNPATH leads there, unless x is a link to elsewhere. */
static const char *without_detours(struct making *m, const char *directory) {
    char *path = make_format(m, "%s/", directory), *up;

    while (path && (up = strstr(path, "/../"))) {
        const size_t n = wc_dir_above(path, (size_t)(up - path));
        memmove(path + n, up + strlen("/.."), strlen(up + strlen("/..")) + 1);
    }
    if (path)
        path[strlen(path) - 1] = '\0';
    return path && wc_is_same_file(m->view.files, directory, path) ? path : directory;
}

/* Those before what such a list has. Where the process stands decides on none. */
static const char *in_front(struct making *m, const char *directories, const char *list) {
    const char *value = directories;

    WC_EACH_ELEMENT(e, list, ":")
        if (e.p[0] == '/' && !path_has_element(directories, e.p, e.n))
            value = make_format(m, "%s:%.*s", value, (int)e.n, e.p);
    return value;
}

struct edit make_path_with(struct making *m, const char *directories) {
    if (strstr(directories, "/..") && !strchr(directories, ':'))
        directories = without_detours(m, directories);
    return make_path(in_front(m, directories, m->path));
}

void make_path_to(struct making *m, const char *file) {
    const char *directory = make_directory_of(m, file);
    const char *given = candidates_given_part(m->s);

    if (!directory || directory[0] != '/' || strchr(directory, ':'))
        return;
    make_one(m, make_path_with(m, directory));
    if (given)
        make_one(m, make_path(make_format(m, "%.*s%s%s", (int)(given - m->path), m->path,
                                          *given ? "" : ":", in_front(m, directory, given))));
}

/* ---- what the variables have ---- */

const char *make_without(struct making *m, const char *list, const char *separators, size_t i) {
    const char *value = "";

    WC_EACH_ELEMENT(e, list, separators)
        if (i-- != 0)
            value = make_format(m, "%s%s%.*s", value, *value ? ":" : "", (int)e.n, e.p);
    return value;
}

void make_without_element(struct making *m) {
    const char *preload = wc_variable(m->s, "LD_PRELOAD"); /* without our own library */
    const char *given = wc_variable(m->s, "WHICHCUDNN_RUN_LD_LIBRARY_PATH");
    const char *scripts = wc_variable(m->s, "WHICHCUDNN_RUN_SCRIPT");
    size_t i = 0;

    if (given)
        make_one(m, make_path(given));
    WC_EACH_ELEMENT(file, scripts, ":") /* where they are, before one went elsewhere */
        WC_EACH_ELEMENT(e, m->path, ":")
            if (e.n && e.p[0] != '/')
                make_one(m, make_path_with(m, make_format(m, "%.*s/%.*s",
                                                          (int)wc_dir_above(file.p, file.n), file.p,
                                                          (int)e.n, e.p)));
    WC_EACH_ELEMENT(e, m->path, ":")
        make_one(m, make_path(make_without(m, m->path, ":", i++)));
    if (m->path)
        make_one(m, make_path(""));
    i = 0;
    WC_EACH_ELEMENT(e, preload, " :")
        make_one(m, make_variable("LD_PRELOAD", make_without(m, preload, " :", i++)));
    WC_EACH(search, m->s->searches)
        if (search->r.later_path && !wc_str_same(search->r.later_path, m->path ?: ""))
            make_one(m, make_path(search->r.later_path));
}

/* What a file with another system's ends of lines, or a line of it with quotes, has left behind at
 * either end of an element. */
static bool is_left_behind(char c) {
    return (unsigned char)c <= ' ' || c == '"' || c == '\'';
}

void make_cleaned(struct making *m) {
    static const char unexpanded[] = "${LD_LIBRARY_PATH";
    const char *value = "";

    WC_EACH_ELEMENT(e, m->path, ":,") { /* people write lists with ", ", too */
        const char *at = memmem(e.p, e.n, unexpanded, sizeof(unexpanded) - 1);
        size_t from = 0, n = at ? (size_t)(at - e.p) : e.n;
        while (from < n && is_left_behind(e.p[from]))
            from++;
        while (n > from && is_left_behind(e.p[n - 1]))
            n--;
        if (e.p[from] == '/' && n > from)
            value =
                make_format(m, "%s%s%.*s", value, *value ? ":" : "", (int)(n - from), e.p + from);
    }
    if (*value)
        make_one(m, make_path(value));
}

/* A directory that the loader's list cannot name, by a link to it that it can. */
static void link_without_colon(struct making *m, const char *before, const char *path,
                               const char *behind) {
    const char *colon = strchr(path, ':');
    const size_t n = colon ? (size_t)(colon - path) + strcspn(colon, "/") : 0;
    char *link = n ? make_format(m, "%.*s", (int)n, path) : NULL;
    const char *target = link ? make_format(m, "%s", wc_base_name(link)) : NULL, *value;

    if (!link || strchr(path + n, ':') || !wc_is_directory(m->view.files, path))
        return;
    for (char *at = link; (at = strchr(at, ':'));)
        *at = '-';
    value = make_format(m, "%s%s%s%s%s", before, link, path + n, *behind ? ":" : "", behind);
    if (!make_is_there(m, link))
        make_two(m, (struct edit){.kind = EDIT_LINK, .path = link, .target = target},
                 make_path(value));
}

/* Elements that are one directory, which a colon in its name has split. */
void make_unsplit(struct making *m) {
    WC_EACH_ELEMENT(from, m->path, ":")
        for (size_t k = from.n; from.p[0] == '/' && from.p[k];) {
            k += 1 + strcspn(from.p + k + 1, ":");
            link_without_colon(m, make_format(m, "%.*s", (int)(from.p - m->path), m->path),
                               make_format(m, "%.*s", (int)k, from.p),
                               from.p + k + (from.p[k] != '\0'));
        }
}

/* An expectation that is not a version: nothing can meet it. */
void make_no_expectation(struct making *m) {
    static const char variable[] = "WHICHCUDNN_EXPECT";
    struct wc_spec spec;

    WC_EACH(d, m->s->demands)
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION && !d->r.built &&
            wc_str_same(d->r.source, variable) && !(wc_spec_read(d->r.spec, &spec) && spec.n))
            make_one(m, (struct edit){.kind = EDIT_UNSET, .name = variable});
}

/* ---- where the path may lead ---- */

void make_path_to_copy(struct making *m) {
    for (size_t i = 0; i < 2; i++)
        WC_EACH(c, m->stacks[i]->candidates)
            if (c->r.file_state == WC_file_state_FITS)
                make_path_to(m, c->r.path);
    WC_EACH(o, m->s->objects)
        if (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY) {
            make_path_to(m, o->r.path);
            make_path_to(m, o->r.real_path);
        }
    WC_EACH(p, m->s->packages)
        if (p->r.installation_path && p->r.package_state != WC_package_state_INCOMPLETE)
            make_path_to(m, make_format(m, "%s/lib/",
                                        p->r.installation_kind == WC_installation_kind_CONDA
                                            ? p->r.prefix
                                            : p->r.installation_path));
    WC_EACH(file, m->s->files)
        if (file->r.fault == WC_file_fault_UNKNOWN && file->r.content)
            make_path_to(m, file->r.path);
}

static void add_preload(struct making *m, const char *path) {
    const char *old = wc_variable(m->s, "LD_PRELOAD"); /* without our own library */

    if (path && !strpbrk(path, ": "))
        make_one(m, make_variable("LD_PRELOAD",
                                  make_format(m, "%s%s%s", path, old && *old ? ":" : "", old)));
}

/* The loader refused a library for a function of cuDNN's. */
static bool is_for_function(const struct wc_failure *failure) {
    const struct wc_said *said = &failure->said;

    return wc_is_load(failure) && said->symbol && !said->version &&
           wc_function_find(said->symbol) != WC_NO_FUNCTION;
}

/* What is there at the start gets all the thread-local room that it requires, and all see its
 * functions. */
void make_preload(struct making *m) {
    struct wc_search_context search = {.machine = OWN_MACHINE};

    library_cache_use(m->libraries, m->libraries->interpreter, &search);
    WC_EACH(c, m->s->candidates) { /* of a search that LD_LIBRARY_PATH does not change */
        const struct wc_searched *of = WC_FIRST(one, m->s->searches, one->r.search == c->r.search);
        const bool is_led_to =
            c->r.rule == WC_search_rule_RPATH || c->r.rule == WC_search_rule_LIBRARY_PATH;
        if (of && c->r.file_state == WC_file_state_FITS &&
            wc_name_kind_of(c->r.path) == WC_NAME_FACADE &&
            (of->r.rule == WC_search_rule_LOADED ||
             (of->r.rule == WC_search_rule_RPATH && is_led_to)))
            add_preload(m, make_real_path(m, c->r.path));
    }
    /* For hosts that leave it to others to load one: what their own search would find. */
    if (!wc_first_facade(m->s) &&
        (WC_ANY(d, m->s->demands, wc_is_linked_with_none(m->s, d->r.host_path)) ||
         WC_ANY(f, m->s->failures, is_for_function(f))))
        for (int32_t major = 9; major > 0; major--) {
            const char *name = make_format(m, "libcudnn.so.%d", major);
            add_preload(m, name);
            add_preload(m, wc_search_cache(&search, name));
        }
    WC_EACH(failure, m->s->failures) {
        const struct wc_said *said = &failure->said;
        const char *unmet = said->what == WC_SAID_UNMET && said->version
                                ? wc_base_name(said->library ?: said->version)
                                : NULL;
        const enum wc_name_kind kind = wc_name_kind_of(unmet);
        /* Another one of that name was there before the system's, or before the path's. */
        if (unmet && kind == WC_NAME_OTHER)
            add_preload(m, wc_search_cache(&search, unmet));
        WC_EACH_ELEMENT(e, kind == WC_NAME_CUDA_DEPENDENCY ? m->path : NULL, ":") {
            const char *file = make_format(m, "%.*s/%s", (int)e.n, e.p, unmet);
            add_preload(m, make_is_there(m, file) ? file : NULL);
        }
        if (said->system == WC_SYSTEM_STATIC_TLS)
            add_preload(m, said->file);
        if (is_for_function(failure))
            WC_EACH(o, m->s->objects) /* not another library under its name */
                if (o->r.role == WC_role_FACADE && o->r.mapped && wc_name_is_cudnn(o->r.soname))
                    add_preload(m, wc_real_path_of(o));
    }
}
