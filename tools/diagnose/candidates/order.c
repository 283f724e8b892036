/* SPDX-License-Identifier: Apache-2.0 */
#include "making.h"

#include <string.h>

#include "core/knowledge/frameworks.h"
#include "core/knowledge/programs.h"

/* Releases before `since` have no such function. */
static void add_preloader(struct making *m, const struct wc_object *o) {
    const char *environment = make_environment_of(m, wc_path_of(o));
    const char *module =
        environment && !make_is_conda(m, environment) ? make_module_of(m, wc_path_of(o)) : NULL;
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

/* A file of the module that a script imports: no script imports _ctypes by itself, but the package
 * whose cuDNN it opens (world: notebook_imports_another_before). NULL: it has opened none. */
static const char *imported(struct making *m, const struct wc_object *host) {
    const struct wc_object *opened = host;

    if (wc_program_is(wc_path_of(host), WC_PROGRAM_LIBRARY))
        opened = WC_FIRST(o, m->s->objects,
                          wc_is_cudnn(o) && wc_means(host, o->r.asked_by_object, o->r.asked_by));
    return opened ? wc_path_of(opened) : NULL;
}

void make_order(struct making *m) {
    WC_EACH(first, m->s->objects)
        WC_EACH(then, m->s->objects)
            if (first != then && wc_wants_cudnn(first) && wc_wants_cudnn(then))
                make_import_before(m, imported(m, first), imported(m, then), NULL);
    WC_EACH(o, m->s->objects) /* a library of CUDA's that an import has loaded by its path */
        if (o->r.role == WC_role_CUDA_DEPENDENCY && o->r.asked_how == WC_operation_DLOPEN &&
            o->r.asked_name && o->r.asked_name[0] == '/')
            WC_EACH(host, m->s->objects)
                if (wc_wants_cudnn(host))
                    make_import_before(m, wc_path_of(host), wc_path_of(o), NULL);
    WC_EACH(o, m->s->objects)
        add_preloader(m, o);
}
