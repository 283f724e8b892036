/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <string.h>

#include "core/findings/finding.h"
#include "core/knowledge/frameworks.h"

/* The folder below site-packages, else the file. */
static const char *module_of(struct finding_of *f, const struct wc_object *host) {
    const char *path = wc_path_of(host), *environment = find_environment_of(f, path), *below;

    if (!path)
        return NULL;
    if (!environment || find_is_conda(environment))
        return wc_base_name(path);
    below = path + strlen(environment) + 1;
    if (!strchr(below, '/'))
        return below;
    below = find_format(f, "%.*s", (int)strcspn(below, "/"), below);
    return wc_str_ends(below, ".libs") /* beside what is imported */
               ? find_format(f, "%.*s", (int)(strlen(below) - strlen(".libs")), below)
               : below;
}

/* What of Python's own asks for others is there before they ask. */
static bool is_pythons(const struct wc_object *o) {
    return strstr(wc_path_of(o) ?: "", "/lib-dynload/") != NULL;
}

static void add_order(struct finding_of *f, const struct wc_object *first,
                      const struct wc_object *then) {
    const char *a = is_pythons(first) ? NULL : module_of(f, first), *b = module_of(f, then);

    if (a && b && strcmp(a, b) != 0)
        find_add(f, (struct edit){.kind = EDIT_IMPORT_FIRST, .name = a, .value = b});
}

/* Releases before `since` have no such function. */
static void add_preloader(struct finding_of *f, const struct wc_object *o) {
    const char *environment = find_environment_of(f, wc_path_of(o));
    const char *module = environment && !find_is_conda(environment) ? module_of(f, o) : NULL;
    const struct wc_framework *known = module ? wc_framework_named(module) : NULL;
    struct wc_version release = wc_version_of(o->r.installation_version);

    if (!known || !known->preloader.function ||
        (wc_version_known(release) &&
         wc_version_compare(release, wc_version_of(known->preloader.since)) < 0))
        return;
    find_add(f, (struct edit){.kind = EDIT_PRELOADER,
                              .name = known->name,
                              .value = known->preloader.function,
                              .environment = environment});
}

void find_orders(struct finding_of *f) {
    WC_EACH(first, f->s->objects)
        WC_EACH(then, f->s->objects) {
            if (first != then && wc_wants_cudnn(first) && wc_wants_cudnn(then))
                add_order(f, first, then);
        }
    WC_EACH(o, f->s->objects) /* a library of CUDA's that an import has brought by its path */
        if (o->r.role == WC_role_CUDA_DEPENDENCY && o->r.asked_how == WC_operation_DLOPEN &&
            o->r.asked_name && o->r.asked_name[0] == '/')
            WC_EACH(host, f->s->objects)
                if (wc_wants_cudnn(host))
                    add_order(f, host, o);
    WC_EACH(o, f->s->objects)
        add_preloader(f, o);
}
