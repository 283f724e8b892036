/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "making.h"

/* Without the wheels that have these no framework loads cuDNN. */
static const char *const first_libraries[] = {"libcudart.so", "libcublas.so", "libnvrtc.so"};

int32_t make_cuda_for(struct making *m, const char *environment) {
    int32_t cuda = -1;

    for (int anywhere = 0; anywhere < 2; anywhere++)
        WC_EACH(o, m->s->objects)
            if (cuda < 0 && wc_wants_cudnn(o) &&
                (anywhere || wc_is_below(wc_real_path_of(o), environment, strlen(environment)))) {
                cuda = wc_cuda_of_host(m->s, o).major;
                if (cuda < 0)
                    cuda = wc_cuda_in_package(o->r.installation);
            }
    if (cuda < 0)
        cuda = wc_cuda_of_dependencies(m->s);
    WC_EACH(failure, m->s->failures) {
        const char *file = failure->r.name;
        const struct library *l =
            cuda < 0 && file && file[0] == '/' ? library_cache_get(m->libraries, file, NULL) : NULL;
        for (const char **name = l ? l->needed : NULL; name && *name && cuda < 0; name++)
            cuda = wc_name_cuda(*name);
    }
    WC_EACH(o, m->s->objects) /* CTranslate2 opens "libcublas.so.12" */
        if (cuda < 0 && wc_path_of(o) && (wc_wants_cudnn(o) || wc_is_cudnn(o)))
            cuda = library_cuda(m->libraries, wc_path_of(o));
    return cuda;
}

bool make_has_cuda(struct making *m, const char *directory, int32_t cuda) {
    return ANY_ENTRY(name, make_entries(m, directory),
                     wc_name_kind_of(*name) == WC_NAME_CUDA_DEPENDENCY &&
                         wc_name_cuda(*name) == cuda);
}

/* In the process, in the wheels of that site, or in the conda prefix that it is of. */
static bool has_any(struct making *m, const char *site, int32_t cuda) {
    const char *library = make_directory_of(m, make_directory_of(m, site));

    return WC_ANY(o, m->s->objects, o->r.mapped && wc_name_cuda(wc_path_of(o)) == cuda) ||
           ANY_ENTRY(folder, make_entries(m, make_format(m, "%s/nvidia", site)),
                     make_has_cuda(m, make_format(m, "%s/nvidia/%s/lib", site, *folder), cuda)) ||
           (library && make_has_cuda(m, library, cuda));
}

bool make_whole_cuda(struct making *m, const char *site, const char *wheel, int32_t cuda) {
    struct wc_arena *memory = m->view.memory;
    const char *spec, *directories = NULL;
    struct candidate all = {.n = 0};

    if (!WC_ANY(name, WC_ROWS(first_libraries),
                wc_str_same(wheel_with(memory, *name, cuda, &spec), wheel)) ||
        !wheel_with(memory, first_libraries[0], cuda, &spec) || has_any(m, site, cuda))
        return false;
    WC_EACH_ROW(name, first_libraries) {
        const char *package = wheel_with(memory, *name, cuda, &spec);
        const struct wheel_list files =
            wheel_list(memory, package, (struct wc_version){cuda, 0, 0, 0});
        const char *file = files.n ? files.p->file : "";
        const char *directory = make_format(m, "%s/%.*s", site, (int)wc_dir_length(file), file);
        all.p[all.n++] =
            make_install(package, cuda < 13 ? "" : make_format(m, "==%d.*", cuda), site);
        if (!path_has_element(directories, directory, strlen(directory)))
            directories = make_format(m, "%s%s%s", directories, directories ? ":" : "", directory);
    }
    candidates_add(m->out, &all);
    all.p[all.n++] = make_path_with(m, directories);
    candidates_add(m->out, &all);
    return true;
}
