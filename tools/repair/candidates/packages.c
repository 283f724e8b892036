/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <string.h>

#include "core/findings/finding.h"
#include "tools/repair/wheel_table.h"
#include "tools/repair/wheels.h"

/* "nvidia-cudnn-cu12" of "nvidia-cudnn-cu12 9.1.0.70". */
static const char *bare_name(struct finding_of *f, const char *package) {
    return find_format(f, "%.*s", (int)strcspn(package, " "), package);
}

struct edit find_reinstall(const struct wc_package_record *p, const char *prefix) {
    return (struct edit){.kind = EDIT_REINSTALL,
                         .name = p->package,
                         .value = p->package_version,
                         .environment = prefix};
}

struct edit find_install(const char *package, const char *spec, const char *environment) {
    return (struct edit){
        .kind = EDIT_INSTALL, .name = package, .value = spec, .environment = environment};
}

/* "libcudnn8-dev", "libcudnn9-dev-cuda-12" need the libraries of the same release, which may have
 * been removed by themselves. */
static void add_libraries_of(struct finding_of *f, const struct wc_package_record *r) {
    static const char dev[] = "-dev";
    const char *at = strstr(r->package, dev);

    if (at && r->installation_kind == WC_installation_kind_DEBIAN && r->package_version)
        find_add(f, find_install(find_format(f, "%.*s%s", (int)(at - r->package), r->package,
                                             at + strlen(dev)),
                                 find_format(f, "==%s", r->package_version), "/"));
}

void find_packages(struct finding_of *f) {
    WC_EACH(p, f->s->packages) {
        const struct wc_package_record *r = &p->r;
        const char *prefix = find_prefix_of(f, r);
        if (!r->package || !prefix)
            continue;
        add_libraries_of(f, r);
        find_add(f, find_reinstall(r, prefix));
        WC_EACH(other, r->shared_with)
            find_add_two(f,
                         (struct edit){.kind = EDIT_REMOVE,
                                       .name = bare_name(f, *other),
                                       .environment = prefix},
                         find_reinstall(r, prefix));
        WC_EACH(foreign, r->foreign)
            find_add(f, (struct edit){.kind = EDIT_DELETE, .path = *foreign});
        if (WC_ANY(other, f->s->packages, other != p && wc_str_same(other->r.prefix, r->prefix)) ||
            r->installation_kind == WC_installation_kind_WHEEL)
            find_add(f,
                     (struct edit){.kind = EDIT_REMOVE, .name = r->package, .environment = prefix});
    }
}

/* Where that wheel puts its libraries. */
static const char *wheel_directory(struct finding_of *f, const struct edit *e) {
    char version[WC_VERSION_TEXT];
    struct wheel_list files = wheel_list(
        f->out->memory, e->name, wc_version_format(wheel_release(e->name, e->value), version));

    return files.n && e->environment
               ? find_directory_of(f, find_format(f, "%s/%s", e->environment, files.p[0].file))
               : NULL;
}

void find_add_install(struct finding_of *f, const char *package, const char *spec,
                      const char *environment) {
    struct edit e = find_install(package, spec, environment);
    const char *directory;

    if (!package || !spec || !environment)
        return;
    find_add(f, e);
    WC_EACH(p, f->s->packages)
        if (wc_str_same(find_prefix_of(f, &p->r), environment) &&
            !wc_str_same(p->r.package, package) && strstr(package, "cudnn"))
            find_add_two(f,
                         (struct edit){
                             .kind = EDIT_REMOVE, .name = p->r.package, .environment = environment},
                         e);
    directory =
        find_is_conda(environment) ? find_format(f, "%s/lib", environment) : wheel_directory(f, &e);
    if (directory)
        find_add_two(f, e, find_with_directory(f, directory));
    if (f->path)
        find_add_two(f, e, (struct edit){.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"});
}

/* Which CUDA the other wheels there are for; -1: nothing says it. */
static int32_t cuda_of_site(struct finding_of *f, const char *site) {
    static const struct {
        const char *package;
        int32_t cuda;
    } wheels[] = {{"nvidia-cuda-runtime-cu11", 11}, {"nvidia-cublas-cu11", 11},
                  {"nvidia-cuda-runtime-cu12", 12}, {"nvidia-cublas-cu12", 12},
                  {"nvidia-cuda-runtime", 13},      {"nvidia-cublas", 13}};

    WC_EACH_ROW(wheel, wheels)
        if (find_installed_version(f, site, wheel->package))
            return wheel->cuda;
    return -1;
}

int32_t find_cuda_of_process(struct finding_of *f, const struct wc_object *host) {
    int32_t cuda = host ? wc_cuda_of_host(f->s, host).major : -1;

    if (cuda < 0 && host)
        cuda = wc_cuda_in_package(host->r.installation);
    return cuda < 0 ? wc_cuda_of_dependencies(f->s) : cuda;
}

const char *find_package_for(struct finding_of *f, const char *environment,
                             const struct wc_object *host) {
    const struct wc_package *there =
        WC_FIRST(p, f->s->packages, wc_str_same(find_prefix_of(f, &p->r), environment));
    int32_t cuda = find_cuda_of_process(f, host);

    if (find_is_conda(environment))
        return there ? there->r.package : "cudnn";
    if (cuda < 0 && !there)
        cuda = cuda_of_site(f, environment);
    if (there && (cuda < 11 || wc_cuda_in_package(there->r.package) == cuda))
        return there->r.package;
    return cuda >= 11 ? find_format(f, "nvidia-cudnn-cu%d", cuda) : NULL;
}
