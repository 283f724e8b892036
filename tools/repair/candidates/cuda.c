/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/findings/finding.h"
#include "find.h"
#include "tools/loader/library_cache.h"
#include "tools/repair/wheel_table.h"

/* The wheels without which no framework gets to cuDNN, and the folders of theirs before CUDA 13. */
static const struct {
    const char *package, *folder;
} always[] = {{"cuda-runtime", "cuda_runtime"}, {"cublas", "cublas"}, {"cuda-nvrtc", "cuda_nvrtc"}};

struct looking {
    struct finding_of *f;
    const char *directory; /* below which there are more */
    int32_t cuda;
    bool found;
};

static bool is_of_cuda(const char *name, int32_t cuda) {
    return wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && wc_name_cuda(name) == cuda;
}

static bool is_library(void *looking, const char *name) {
    struct looking *l = looking;

    l->found = l->found || is_of_cuda(name, l->cuda);
    return !l->found;
}

static bool is_wheel(void *looking, const char *folder) {
    struct looking *l = looking;
    const char *directory = find_format(l->f, "%s/%s/lib", l->directory, folder);

    l->f->files->list(l->f->files->ctx, directory, is_library, l);
    return !l->found;
}

/* In the process, in the wheels of that site, or in the conda prefix that it is of. */
static bool has_any(struct finding_of *f, const char *site, int32_t cuda) {
    struct looking l = {.f = f, .cuda = cuda};
    size_t n = wc_dir_length(site);

    l.found =
        WC_ANY(o, f->s->objects, o->r.mapped && is_of_cuda(wc_base_name(wc_path_of(o)), cuda));
    l.directory = find_format(f, "%s/nvidia", site);
    f->files->list(f->files->ctx, l.directory, is_wheel, &l);
    n = n ? wc_dir_above(site, n) : 0;
    if (n)
        f->files->list(f->files->ctx, find_format(f, "%.*s", (int)n, site), is_library, &l);
    return l.found;
}

/* The major of cuDNN that a file needs, or opens by name; -1: none. */
static int32_t major_wanted_by(struct finding_of *f, const char *path) {
    const struct library *l = library_cache_get(f->libraries, path, NULL);
    const char **const lists[] = {l ? l->needed : NULL, l ? l->opens : NULL};

    WC_EACH_ROW(list, lists)
        for (const char **name = *list; name && *name; name++)
            if (wc_name_kind_of(*name) == WC_NAME_FACADE && wc_name_read(*name).version.major > 0)
                return wc_name_read(*name).version.major;
    return -1;
}

/* Of the file that could not be loaded, else of who asked; NULL: it is not of that site, or wants
 * no cuDNN that is known. */
static const char *cudnn_wanted(struct finding_of *f, const char *site,
                                const struct wc_failure *failure) {
    const struct wc_object *asker = wc_caller_of(f->s, failure);
    const struct wc_hosts hosts = {.p = {asker}, .n = 1};
    const bool is_file = wc_name_kind_of(failure->r.name) == WC_NAME_OTHER;
    const char *host = is_file ? failure->r.name : asker ? wc_path_of(asker) : NULL;
    int32_t major;

    if (!host || !wc_is_below(host, site, strlen(site)))
        return NULL;
    if (!is_file)
        return candidates_common(f->out, f->s, &hosts);
    WC_EACH(d, f->s->demands) {
        const char *spec = !wc_str_same(d->r.host_path, host) ? NULL
                           : d->r.demand_kind == WC_demand_kind_REQUIRED
                               ? d->r.spec
                               : candidates_accepted(f->out, &d->r);
        if (spec)
            return spec;
    }
    major = major_wanted_by(f, host);
    return major > 0 ? find_format(f, ">=%d,<%d", major, major + 1) : NULL;
}

/* The cuDNN that belongs to it, without a name: none; where the host is of the site and has got
 * none: what the system has may be for another CUDA. */
static struct edit cudnn_for(struct finding_of *f, const char *site,
                             const struct wc_failure *failure, int32_t cuda) {
    const char *package = find_format(f, "nvidia-cudnn-cu%d", cuda), *spec;

    if (find_installed_version(f, site, package) ||
        WC_ANY(o, f->s->objects, o->r.role == WC_role_FACADE))
        return find_install(NULL, NULL, NULL);
    spec = cudnn_wanted(f, site, failure);
    return find_install(spec && wheel_newest(package, spec) ? package : NULL, spec, site);
}

bool find_whole_cuda(struct finding_of *f, const char *site, const struct wc_failure *failure,
                     const char *wheel, int32_t cuda) {
    struct candidate all = {.n = 0};
    struct edit cudnn;
    const char *directories = NULL;
    bool among = false;

    WC_EACH_ROW(row, always)
        among = among || (wc_str_starts(wheel, "nvidia-") &&
                          wc_str_starts(wheel + strlen("nvidia-"), row->package));
    if (!among || cuda < 11 || has_any(f, site, cuda))
        return false;
    WC_EACH_ROW(row, always) {
        all.edit[all.n++] =
            cuda < 13 ? find_install(find_format(f, "nvidia-%s-cu%d", row->package, cuda), "", site)
                      : find_install(find_format(f, "nvidia-%s", row->package),
                                     find_format(f, "==%d.*", cuda), site);
        if (cuda < 13)
            directories = find_format(f, "%s%s%s/nvidia/%s/lib", directories ? directories : "",
                                      directories ? ":" : "", site, row->folder);
    }
    if (cuda >= 13)
        directories = find_format(f, "%s/nvidia/cu%d/lib", site, cuda);
    cudnn = cudnn_for(f, site, failure, cuda);
    if (cudnn.name) {
        all.edit[all.n++] = cudnn;
        directories = find_format(f, "%s:%s/nvidia/cudnn/lib", directories, site);
    }
    candidates_add(f->out, &all);
    all.edit[all.n++] = find_in_front(f, directories);
    candidates_add(f->out, &all);
    return true;
}
