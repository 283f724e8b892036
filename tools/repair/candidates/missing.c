/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <string.h>

#include "core/findings/finding.h"
#include "core/packages/distribution.h"
#include "core/packages/installation.h"
#include "tools/repair/wheel_table.h"
#include "tools/repair/wheels.h"

enum { SCRATCH = 32 << 10 };

/* Directories below site/nvidia that have a library of that name. */
struct directories {
    struct finding_of *f;
    const char *site, *name, *found;
};

static bool has_library(void *arg, const char *entry) {
    struct directories *d = arg;
    const char *path = find_format(d->f, "%s/nvidia/%s/lib/%s", d->site, entry, d->name);
    struct wc_file_stat facts;

    if (d->f->files->facts(d->f->files->ctx, path, &facts))
        d->found = path;
    return !d->found;
}

static bool is_of_cuda(void *found, const char *name) {
    *(bool *)found = wc_name_is_cudnn(name) || wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY;
    return !*(bool *)found;
}

static bool add_if_of_cuda(void *arg, const char *entry) {
    struct directories *d = arg;
    const char *directory = find_format(d->f, "%s/nvidia/%s/lib", d->site, entry);
    bool found = false;

    d->f->files->list(d->f->files->ctx, directory, is_of_cuda, &found);
    if (found)
        d->found = d->found ? find_format(d->f, "%s:%s", d->found, directory) : directory;
    return true;
}

/* All directories of a site's wheels that cuDNN and what it needs may lie in. */
static void add_site(struct finding_of *f, const char *site) {
    struct directories d = {.f = f, .site = site};

    f->files->list(f->files->ctx, find_format(f, "%s/nvidia", site), add_if_of_cuda, &d);
    if (d.found && strchr(d.found, ':'))
        find_add(f, find_in_front(f, d.found));
}

static const char *library_in(struct finding_of *f, const char *site, const char *name) {
    struct directories d = {.f = f, .site = site, .name = name};

    f->files->list(f->files->ctx, find_format(f, "%s/nvidia", site), has_library, &d);
    return d.found;
}

/* "cublas" of "libcublasLt.so.12": a package that has it is named so, but the old one that has all.
 */
static bool may_have(void *library, const char *record) {
    const char *name = library;
    size_t n = 3;

    while (name[n] >= 'a' && name[n] <= 'z')
        n++;
    return wc_str_starts(record, "cudatoolkit-") ||
           (n > 3 && memmem(record, strlen(record), name + 3, n - 3) != NULL);
}

/* A package of conda whose list has that library. */
static void add_conda_owner(struct finding_of *f, const char *prefix, const char *name) {
    struct wc_conda_package *owner = wc_arena_take(f->out->memory, sizeof(*owner));
    void *scratch = wc_arena_take(f->out->memory, SCRATCH);
    struct wc_reading reading;

    if (!owner || !scratch || !wc_str_starts(name, "lib"))
        return;
    wc_reading_begin(&reading, f->files, scratch, SCRATCH);
    if (wc_conda_packages(&reading, find_format(f, "%s/lib/%s", prefix, name), true, may_have,
                          (void *)(uintptr_t)name, owner, 1))
        find_add(f, (struct edit){.kind = EDIT_REINSTALL,
                                  .name = owner->name,
                                  .value = owner->version,
                                  .environment = prefix});
}

/* Put back into one piece where it counts as installed. */
static void add_again(struct finding_of *f, const char *site, const char *package) {
    const char *version = package ? find_installed_version(f, site, package) : NULL;

    if (version)
        find_add(
            f, (struct edit){
                   .kind = EDIT_REINSTALL, .name = package, .value = version, .environment = site});
}

/* The wheel that a file is of: put back where it has brought the missing library, too; installed
 * once more for what it requires, as nobody may have looked after that. */
static void add_owner(struct finding_of *f, const char *file, const char *name) {
    struct wc_distribution d;
    struct wc_reading reading;
    struct edit e;
    void *scratch = wc_arena_take(f->out->memory, SCRATCH);

    if (!file || file[0] != '/' || !scratch)
        return;
    wc_reading_begin(&reading, f->files, scratch, SCRATCH);
    if (!wc_distribution_of(&reading, file, &d))
        return;
    e = (struct edit){.kind = EDIT_REINSTALL,
                      .name = find_format(f, "%s", d.name),
                      .value = find_format(f, "%s", d.version),
                      .environment = find_real_path(f, find_format(f, "%s", d.site))};
    if (wc_reading_find(&reading, find_format(f, "%s/%s/RECORD", d.site, d.info), 0,
                        find_format(f, "/%s,", name), false) != WC_NOWHERE)
        find_add(f, e);
    find_add(f, find_install(e.name, find_format(f, "==%s", e.value), e.environment));
}

/* What needs another major lies elsewhere: the one that is installed is there for others, whether
 * or not they have come to ask for it. */
static bool is_of_others(struct finding_of *f, const struct wc_failure *failure,
                         const char *environment, const char *package, int32_t major) {
    const char *there = package && !find_is_conda(environment)
                            ? find_installed_version(f, environment, package)
                            : NULL;

    return there && major > 0 && wc_version_of(there).major != major && failure->r.name[0] == '/' &&
           !wc_kind_is_ours(wc_name_kind_of(failure->r.name)) &&
           !wc_is_below(find_real_path(f, failure->r.name), environment, strlen(environment));
}

/* A part, or the facade, of another major than the one that is there, or of none. */
static void add_major(struct finding_of *f, const struct wc_failure *failure,
                      const char *environment, int32_t major) {
    const char *package = find_package_for(f, environment, wc_caller_of(f->s, failure));

    if (failure->r.name && is_of_others(f, failure, environment, package, major))
        return;
    if (!find_is_conda(environment))
        add_again(f, environment, package);
    if (major > 0)
        find_add_install(f, package, find_format(f, ">=%d,<%d", major, major + 1), environment);
}

/* For which CUDA a library without a number in its name is wanted. */
static int32_t cuda_for(struct finding_of *f, const struct wc_failure *failure, const char *name) {
    const struct wc_object *caller = wc_caller_of(f->s, failure);
    int32_t cuda = wc_name_cuda(name) < 0 ? wc_cuda_of_dependencies(f->s) : -1;

    return cuda < 0 && caller && wc_name_cuda(name) < 0 ? wc_cuda_in_package(caller->r.installation)
                                                        : cuda;
}

/* The parts of a facade that a package has brought alone: of its very release, where the variable
 * leads to them. */
static void add_parts(struct finding_of *f, const struct wc_failure *failure,
                      const char *environment) {
    const struct wc_object *facade = wc_caller_of(f->s, failure);
    const char *package, *release;
    struct wc_version version;
    char text[WC_VERSION_TEXT];

    if (!facade || facade->r.role != WC_role_FACADE || facade->version.patch < 0 ||
        find_is_conda(environment))
        return;
    version = facade->version;
    version.build = -1;
    package = find_package_for(f, environment, facade);
    release =
        package ? wheel_newest(package, find_format(f, "==%s.*", wc_version_format(version, text)))
                : NULL;
    if (release)
        find_add_two(f, find_install(package, find_format(f, "==%s", release), environment),
                     find_with_directory(f, find_format(f, "%s/nvidia/cudnn/lib", environment)));
}

/* The wheel has the library under a name with a number alone: "libnvrtc.so.11.2" for "libnvrtc.so".
 */
static void add_install_linked(struct finding_of *f, struct edit e, const char *name) {
    char version[WC_VERSION_TEXT];
    struct wheel_list files = wheel_list(
        f->out->memory, e.name, wc_version_format(wheel_release(e.name, e.value), version));
    const struct wheel_file *file = WC_FIRST(
        one, files, wc_str_starts(wc_base_name(one->file), name) && wc_str_ends(name, ".so"));
    const char *path = file ? find_format(f, "%s/%s", e.environment, file->file) : NULL;
    struct edit linked = {.kind = EDIT_LINK};

    if (!path)
        return;
    linked.path = find_format(f, "%.*s/%s", (int)wc_dir_length(path), path, name);
    linked.target = wc_base_name(path);
    find_add_two(f, e, linked);
}

/* What NVIDIA's wheels have. Who asks for one library after another does not tell of the next; what
 * a file needs is all known. */
static void add_wheel(struct finding_of *f, const struct wc_failure *failure, const char *site,
                      const char *name) {
    const int32_t cuda = cuda_for(f, failure, name);
    const char *spec, *wheel = wheel_with(f->out->memory, name, cuda, &spec);

    if (!wheel)
        return;
    add_again(f, site, wheel);
    if (find_whole_cuda(f, site, failure, wheel, cuda < 0 ? wc_name_cuda(name) : cuda) &&
        wc_is_asked_for(failure, name))
        return;
    find_add_install(f, wheel, spec, site);
    add_install_linked(f, find_install(wheel, spec, site), name);
}

/* Of the directories of one site those that lack nothing of what is asked for. */
static void add_missing(struct finding_of *f, const struct wc_failure *failure, const char *name,
                        const char *environment, const char **together) {
    const enum wc_name_kind kind = wc_name_kind_of(name);
    const int32_t cuda = wc_name_cuda(name), of_process = find_cuda_of_process(f, NULL);
    const char *there;

    if (wc_kind_is_cudnn(kind))
        add_major(f, failure, environment, wc_name_read(name).version.major);
    if (kind == WC_NAME_PART)
        add_parts(f, failure, environment);
    if (find_is_conda(environment)) {
        add_conda_owner(f, environment, name);
        return;
    }
    there = library_in(f, environment, name);
    if (there)
        add_site(f, environment);
    if (there) {
        const char *directory = find_directory_of(f, there);
        find_add_directory(f, there);
        if (!*together)
            *together = directory;
        else if (!candidates_path_has(*together, directory, strlen(directory)))
            *together = find_format(f, "%s:%s", *together, directory);
    }
    /* What a cuDNN for another CUDA than the process's asks for does not make it the right one. */
    if (kind == WC_NAME_CUDA_DEPENDENCY &&
        !(wc_asked_by_cudnn(f->s, failure) && cuda > 0 && of_process > 0 && cuda != of_process))
        add_wheel(f, failure, environment, name);
}

/* It lies beside the file that needs it, or one that is loaded, which does not look there. */
static void add_beside(struct finding_of *f, const char *file, const char *name) {
    const char *path =
        file ? find_format(f, "%.*s/%s", (int)wc_dir_length(file), file, name) : NULL;
    struct wc_file_stat facts;

    if (path && file[0] == '/' && f->files->facts(f->files->ctx, path, &facts))
        find_add_directory(f, path);
}

void find_missing(struct finding_of *f) {
    const char *together = NULL;

    WC_EACH(failure, f->s->failures) {
        char dependency[512];
        const char *name = wc_failed_dependency(failure, dependency, sizeof(dependency))
                               ? find_format(f, "%s", dependency)
                               : failure->r.name;
        struct environments all;
        if (!name)
            continue;
        if (!wc_is_asked_for(failure, wc_base_name(name)))
            add_beside(f, failure->r.name, name);
        if (wc_name_kind_of(name) == WC_NAME_OTHER) {
            WC_EACH(o, f->s->objects)
                add_beside(f, wc_path_of(o), name);
            continue;
        }
        add_owner(
            f, wc_is_asked_for(failure, wc_base_name(name)) ? failure->r.caller : failure->r.name,
            wc_base_name(name));
        all = find_environments_of(f, failure);
        for (size_t i = 0; i < all.n; i++)
            add_missing(f, failure, wc_base_name(name), all.p[i], &together);
    }
    if (together && strchr(together, ':'))
        find_add(f, find_in_front(f, together));
}
