/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "making.h"

/* Without the wheels that have these no framework loads cuDNN. */
static const char *const first_libraries[] = {"libcudart.so", "libcublas.so", "libnvrtc.so"};

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

/* What is wanted by the file that could not be loaded, else by the requester; NULL: it is not of
 * that site, or requires no cuDNN that is known. */
static const char *cudnn_wanted(struct making *m, const char *site,
                                const struct wc_failure *failure) {
    const struct wc_object *asker = wc_caller_of(m->s, failure);
    const bool is_file = wc_name_kind_of(failure->r.name) == WC_NAME_OTHER;
    const char *host = is_file ? failure->r.name : asker ? wc_path_of(asker) : NULL;

    if (!host || !wc_is_below(host, site, strlen(site)))
        return NULL;
    WC_EACH(d, m->s->demands) {
        const char *spec = !wc_str_same(d->r.host_path, host) ? NULL
                           : d->r.demand_kind == WC_demand_kind_REQUIRED
                               ? d->r.spec
                               : make_accepted(m, &(struct wc_demands){{&d->r}, 1});
        if (spec)
            return spec;
    }
    const struct library *l = library_cache_get(m->libraries, host, NULL);
    const char **needed = l ? l->needed : (const char *[]){NULL}, *name;
    const struct elf_prescan_name *own = l ? l->opens : NULL;
    while ((name = *needed ? *needed++ : own && own->text[0] ? own++->text : NULL)) {
        const int32_t major = wc_name_read(name).version.major;
        if (wc_name_kind_of(name) == WC_NAME_FACADE && major > 0)
            return make_format(m, ">=%d,<%d", major, major + 1);
    }
    return NULL;
}

bool make_whole_cuda(struct making *m, const char *site, const struct wc_failure *failure,
                     const char *wheel, int32_t cuda) {
    struct wc_arena *memory = m->view.memory;
    const char *cudnn = make_format(m, "nvidia-cudnn-cu%d", cuda), *spec, *directories = NULL;
    struct candidate all = {.n = 0};

    if ((wheel && !WC_ANY(name, WC_ROWS(first_libraries),
                          wc_str_same(wheel_with(memory, *name, cuda, &spec), wheel))) ||
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
    /* The cuDNN that belongs to it, where the host is of the site and has got none: what the system
     * has may be for another CUDA. */
    spec = wheel_installed(m->view, site, cudnn, NULL) || wc_first_facade(m->s)
               ? NULL
               : cudnn_wanted(m, site, failure);
    if (spec && wheel_newest(cudnn, spec)) {
        all.p[all.n++] = make_install(cudnn, spec, site);
        directories = make_format(m, "%s:%s/nvidia/cudnn/lib", directories, site);
    }
    candidates_add(m->out, &all);
    all.p[all.n++] = make_path_with(m, directories);
    candidates_add(m->out, &all);
    return true;
}
