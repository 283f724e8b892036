/* SPDX-License-Identifier: Apache-2.0 */
#include "making.h"

#include <string.h>

#include "core/knowledge/frameworks.h"

/* What Python imports: the folder below site-packages, or the module there; else the file. */
static const char *module_of(struct making *m, const char *path) {
    const size_t n = path ? wc_environment_length(path) : 0;
    const char *below;

    if (!n || !wc_str_ends(make_format(m, "%.*s", (int)n, path), "-packages"))
        return path ? wc_base_name(path) : NULL;
    below = path + n + 1;
    below = make_format(m, "%.*s", (int)strcspn(below, strchr(below, '/') ? "/" : "."), below);
    return wc_str_ends(below, ".libs") /* beside what is imported */
               ? make_format(m, "%.*s", (int)(strlen(below) - strlen(".libs")), below)
               : below;
}

/* file: a library that comes with the first; NULL: the process has asked for its libraries. */
static void add_order(struct making *m, const char *first, const char *then, const char *file) {
    const char *a = module_of(m, first), *b = module_of(m, then);

    if (a && b && strcmp(a, b) != 0)
        make_one(m, (struct edit){.kind = EDIT_IMPORT_FIRST, .name = a, .value = b, .path = file});
}

void make_import_before(struct making *m, const char *file, const char *then) {
    add_order(m, file, then, file);
}

/* Releases before `since` have no such function. */
static void add_preloader(struct making *m, const struct wc_object *o) {
    const char *environment = make_environment_of(m, wc_path_of(o));
    const char *module =
        environment && !make_is_conda(environment) ? module_of(m, wc_path_of(o)) : NULL;
    const struct wc_framework *known = module ? wc_framework_named(module) : NULL;
    struct wc_version release = wc_version_of(o->r.installation_version);

    if (!known || !known->preloader.function ||
        (wc_version_known(release) &&
         wc_version_compare(release, wc_version_of(known->preloader.since)) < 0))
        return;
    make_one(m, (struct edit){.kind = EDIT_PRELOADER,
                              .name = known->name,
                              .value = known->preloader.function,
                              .environment = environment});
}

void make_order(struct making *m) {
    WC_EACH(first, m->s->objects)
        WC_EACH(then, m->s->objects) {
            if (first != then && wc_wants_cudnn(first) && wc_wants_cudnn(then))
                add_order(m, wc_path_of(first), wc_path_of(then), NULL);
        }
    WC_EACH(o, m->s->objects) /* a library of CUDA's that an import has brought by its path */
        if (o->r.role == WC_role_CUDA_DEPENDENCY && o->r.asked_how == WC_operation_DLOPEN &&
            o->r.asked_name && o->r.asked_name[0] == '/')
            WC_EACH(host, m->s->objects)
                if (wc_wants_cudnn(host))
                    add_order(m, wc_path_of(host), wc_path_of(o), NULL);
    WC_EACH(o, m->s->objects)
        add_preloader(m, o);
}
