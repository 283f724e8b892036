/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variable by which a program makes the name that it asks for: "$CUDA_HOME/lib64/libcudnn.so.9",
 * or the whole name, or a place in which Python finds a package (PYTHONPATH).
 */
#include <string.h>

#include "making.h"

static void set_root(struct making *m, const char *variable, const char *value, const char *root,
                     const char *rest) {
    if (root && strcmp(root, value) != 0 && (*rest || wc_name_kind_of(root) == WC_NAME_FACADE) &&
        make_is_there(m, make_format(m, "%s%s", root, rest)))
        make_one(m, (struct edit){.kind = EDIT_SET, .name = variable, .value = root});
}

/* What is next to it, above it and in it, and the folders of the program and the caller. */
static void try_roots(struct making *m, const char *variable, const char *value, const char *rest,
                      const char *caller) {
    const char *above = make_directory_of(m, value);
    const char *const folders[] = {above, value};
    const char *const files[] = {m->s->process.executable, caller};

    set_root(m, variable, value, above, rest);
    WC_EACH_ROW(folder, folders)
        EACH_ENTRY(entry, make_entries(m, *folder))
            set_root(m, variable, value, make_format(m, "%s/%s", *folder, *entry), rest);
    /* A variable that is the whole name of a file: others that the loader would find. */
    if (wc_name_kind_of(value) == WC_NAME_FACADE)
        WC_EACH_ELEMENT(e, m->path, ":") {
            const char *directory = make_format(m, "%.*s", (int)e.n, e.p);
            EACH_ENTRY(entry, make_entries(m, directory))
                if (wc_name_kind_of(*entry) == WC_NAME_FACADE)
                    set_root(m, variable, value, make_format(m, "%s/%s", directory, *entry), "");
        }
    WC_EACH_ROW(file, files)
        for (const char *at = *file; (at = make_directory_of(m, at)) && at[1];)
            set_root(m, variable, value, at, rest);
}

/* The environment of Python that the process finds packages in, elsewhere; NULL: none is known. */
static const char *other_site(struct making *m, const char *element, size_t n) {
    for (size_t i = 0; i < 2; i++)
        WC_EACH(o, m->stacks[i]->objects) {
            const char *path = o->r.asked_name ?: wc_path_of(o);
            const char *site = make_environment_of(m, path);
            if (site && !make_is_conda(m, site) && !wc_is_below(path, element, n))
                return site;
        }
    return NULL;
}

/* Without an element, where the environment has all modules that it has; else behind that one. */
static void try_list(struct making *m, const char *variable, const char *list, size_t number,
                     const char *element) {
    const char *site = other_site(m, element, strlen(element));

    if (site && ANY_ENTRY(module, make_entries(m, element),
                          (*module)[0] != '_' && !strstr(*module, "-info") &&
                              !make_is_there(m, make_format(m, "%s/%s", site, *module))))
        make_one(m, make_variable(variable, make_format(m, "%s:%s", site, list)));
    else if (site)
        make_one(m, make_variable(variable, make_without(m, list, ":", number)));
}

static void try_name(struct making *m, const char *name, const char *caller) {
    WC_EACH(text, m->s->process.environment) {
        const size_t n = strcspn(*text, "=");
        const char *variable = make_format(m, "%.*s", (int)n, *text);
        const char *value = (*text)[n] ? *text + n + 1 : NULL;
        size_t i = 0;
        WC_EACH_ELEMENT(e, value, ":") {
            const size_t number = i++;
            if (!replay_names_by(*text, e.p, e.n, name, caller))
                continue;
            if (strcmp(variable, REPLAY_MODULES) == 0)
                try_list(m, variable, value, number, make_format(m, "%.*s", (int)e.n, e.p));
            else if (!strchr(value, ':'))
                try_roots(m, variable, value, name + e.n, caller);
        }
    }
}

void make_roots(struct making *m) {
    for (size_t i = 0; i < 2; i++) {
        WC_EACH(f, m->stacks[i]->failures)
            if (f->r.name)
                try_name(m, f->r.name, f->r.caller);
        WC_EACH(o, m->stacks[i]->objects)
            if (o->r.asked_name)
                try_name(m, o->r.asked_name, o->r.asked_by);
    }
}
