/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "making.h"

/* Of NVIDIA's wheels those without which no framework loads cuDNN. */
static const struct wheel {
    const char *package, *folder; /* of it, before CUDA 13 */
} first_wheels[] = {
    {"cuda-runtime", "cuda_runtime"},
    {"cublas", "cublas"},
    {"cuda-nvrtc", "cuda_nvrtc"},
};

static bool is_of_cuda(const char *name, int32_t cuda) {
    return wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && wc_name_cuda(name) == cuda;
}

bool make_has_cuda(struct making *m, const char *directory, int32_t cuda) {
    const struct entries all = make_entries(m, directory);

    return WC_ANY(name, all, is_of_cuda(*name, cuda));
}

/* In the process, in the wheels of that site, or in the conda prefix that it is of. */
static bool has_any(struct making *m, const char *site, int32_t cuda) {
    const struct entries wheels = make_entries(m, make_format(m, "%s/nvidia", site));
    const char *library = make_directory_of(m, make_directory_of(m, site));

    return WC_ANY(o, m->s->objects, o->r.mapped && is_of_cuda(wc_base_name(wc_path_of(o)), cuda)) ||
           WC_ANY(folder, wheels,
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
        const char *spec = !wc_str_same(d->r.host_path, host)            ? NULL
                           : d->r.demand_kind == WC_demand_kind_REQUIRED ? d->r.spec
                                                                         : make_accepted(m, &d->r);
        if (spec)
            return spec;
    }
    const struct library *l = library_cache_get(m->libraries, host, NULL);
    const char **const lists[] = {l ? l->needed : NULL, l ? l->opens : NULL};
    WC_EACH_ROW(list, lists)
        for (const char **name = *list; name && *name; name++) {
            const int32_t major = wc_name_read(*name).version.major;
            if (wc_name_kind_of(*name) == WC_NAME_FACADE && major > 0)
                return make_format(m, ">=%d,<%d", major, major + 1);
        }
    return NULL;
}

bool make_whole_cuda(struct making *m, const char *site, const struct wc_failure *failure,
                     const char *wheel, int32_t cuda) {
    const char *cudnn = make_format(m, "nvidia-cudnn-cu%d", cuda), *spec = NULL;
    const char *directories = NULL;
    struct candidate all = {.n = 0};
    const bool among = !wheel || (wc_str_starts(wheel, "nvidia-") &&
                                  WC_ANY(row, WC_ROWS(first_wheels),
                                         wc_str_starts(wheel + strlen("nvidia-"), row->package)));

    if (!among || cuda < 11 || has_any(m, site, cuda))
        return false;
    WC_EACH_ROW(row, first_wheels) {
        all.p[all.n++] =
            cuda < 13 ? make_install(make_format(m, "nvidia-%s-cu%d", row->package, cuda), "", site)
                      : make_install(make_format(m, "nvidia-%s", row->package),
                                     make_format(m, "==%d.*", cuda), site);
        if (cuda < 13)
            directories = make_format(m, "%s%s%s/nvidia/%s/lib", directories,
                                      directories ? ":" : "", site, row->folder);
    }
    if (cuda >= 13)
        directories = make_format(m, "%s/nvidia/cu%d/lib", site, cuda);
    /* The cuDNN that belongs to it, where the host is of the site and has got none: what the system
     * has may be for another CUDA. */
    if (!wheel_installed(m->view, site, cudnn, NULL) &&
        !WC_ANY(o, m->s->objects, o->r.role == WC_role_FACADE && o->r.mapped))
        spec = cudnn_wanted(m, site, failure);
    if (spec && wheel_newest(cudnn, spec)) {
        all.p[all.n++] = make_install(cudnn, spec, site);
        directories = make_format(m, "%s:%s/nvidia/cudnn/lib", directories, site);
    }
    candidates_add(m->out, &all);
    all.p[all.n++] = make_path_with(m, directories);
    candidates_add(m->out, &all);
    return true;
}
