/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "core/names/symbols.h"
#include "core/packages/distribution.h"
#include "core/packages/identify.h"
#include "core/packages/installation.h"
#include "making.h"
#include "tools/diagnose/wheel_table.h"
#include "tools/diagnose/wheels.h"

/* ---- where packages are installed ---- */

const char *make_environment_of(struct making *m, const char *path) {
    size_t n = path ? wc_environment_length(path) : 0;
    const char *environment = n ? make_format(m, "%.*s", (int)n, path) : NULL;

    if (!environment || wc_str_ends(environment, "-packages"))
        return environment ? make_real_path(m, environment) : NULL;
    for (n = wc_dir_length(path); n > 1; n = wc_dir_above(path, n)) {
        const char *prefix = make_format(m, "%.*s", (int)n, path);
        if (make_is_there(m, make_format(m, "%s/conda-meta", prefix)))
            return make_real_path(m, prefix);
    }
    return NULL;
}

bool make_is_conda(const char *environment) {
    return environment && !wc_str_ends(environment, "-packages");
}

struct entries make_environments(struct making *m, const struct wc_failure *failure) {
    const struct wc_object *caller = wc_caller_of(m->s, failure);
    const struct entries searched = make_searched(m, failure);
    const char *of_conda = wc_variable(m->s, "CONDA_PREFIX");
    struct entries all = {NULL, 0};
    char site[PATH_MAX];

    make_add(m, &all, make_environment_of(m, caller ? wc_path_of(caller) : failure->r.caller));
    if (failure->r.name && failure->r.name[0] == '/')
        make_add(m, &all, make_environment_of(m, failure->r.name));
    WC_EACH(directory, searched)
        make_add(m, &all, make_environment_of(m, make_format(m, "%s/", *directory)));
    if (wc_process_site(m->files, m->s->process.executable, wc_variable(m->s, "VIRTUAL_ENV"), site,
                        sizeof(site)))
        make_add(m, &all, make_environment_of(m, make_format(m, "%s", site)));
    if (of_conda)
        make_add(m, &all, make_environment_of(m, make_format(m, "%s/lib/", of_conda)));
    return all;
}

static const char *prefix_of(struct making *m, const struct wc_package_record *p) {
    return p->prefix ? make_real_path(m, p->prefix) : NULL;
}

/* ---- which package ---- */

static struct edit removal(const char *package, const char *environment) {
    return (struct edit){.kind = EDIT_REMOVE, .name = package, .environment = environment};
}

/* The CUDA major that the process is made for, as far as its host (NULL: none) or the libraries of
 * CUDA in it say it; -1: they do not. */
static int32_t cuda_of_process(struct making *m, const struct wc_object *host) {
    int32_t cuda = host ? wc_cuda_of_host(m->s, host).major : -1;

    if (cuda < 0 && host)
        cuda = wc_cuda_in_package(host->r.installation);
    return cuda < 0 ? wc_cuda_of_dependencies(m->s) : cuda;
}

/* Which CUDA the other wheels there are for; -1: nothing says it. */
static int32_t cuda_of_site(struct making *m, const char *site) {
    for (int32_t cuda = 11; cuda <= 13; cuda++)
        WC_EACH_ROW(row, make_cuda_first)
            if (wheel_installed(m->out->memory, m->files, site, make_cuda_package(m, row, cuda),
                                NULL))
                return cuda;
    return -1;
}

/* The package that has cuDNN in an environment: the one that is there, where it is for the CUDA of
 * the process. host: who wants it; NULL: not known. NULL: no such package is known. */
static const char *package_for(struct making *m, const char *environment,
                               const struct wc_object *host) {
    const struct wc_package *there =
        WC_FIRST(p, m->s->packages, wc_str_same(prefix_of(m, &p->r), environment));
    int32_t cuda = cuda_of_process(m, host);

    if (make_is_conda(environment))
        return there ? there->r.package : "cudnn";
    if (cuda < 0 && !there)
        cuda = cuda_of_site(m, environment);
    if (there && (cuda < 11 || wc_cuda_in_package(there->r.package) == cuda))
        return there->r.package;
    return cuda >= 11 ? make_format(m, "nvidia-cudnn-cu%d", cuda) : NULL;
}

/* A release of such a set, also with what it may take to come in: another package gone, the
 * variable set. Any of them may be NULL: nothing is added. */
static void add_install(struct making *m, const char *package, const char *spec,
                        const char *environment) {
    const struct edit e = make_install(package, spec, environment);
    char version[WC_VERSION_TEXT];
    struct wheel_list files;

    if (!package || !spec || !environment)
        return;
    make_one(m, e);
    WC_EACH(p, m->s->packages)
        if (wc_str_same(prefix_of(m, &p->r), environment) && !wc_str_same(p->r.package, package) &&
            strstr(package, "cudnn"))
            make_two(m, removal(p->r.package, environment), e);
    files = wheel_list(m->out->memory, package,
                       wc_version_format(wheel_release(package, spec), version));
    if (make_is_conda(environment))
        make_two(m, e, make_path_with(m, make_format(m, "%s/lib", environment)));
    else if (files.n)
        make_two(m, e,
                 make_path_with(m, make_directory_of(
                                       m, make_format(m, "%s/%s", environment, files.p[0].file))));
    if (m->path)
        make_two(m, e, make_path(""));
}

/* ---- packages that are there ---- */

/* Put back, taken away, without what others have put there. */
void make_package_anew(struct making *m) {
    static const char dev[] = "-dev";

    WC_EACH(p, m->s->packages) {
        const struct wc_package_record *r = &p->r;
        const char *prefix = prefix_of(m, r), *at = r->package ? strstr(r->package, dev) : NULL;
        if (!r->package || !prefix)
            continue;
        /* "libcudnn8-dev", "libcudnn9-dev-cuda-12" need the libraries of the same release, which
         * may have been removed by themselves. */
        if (at && r->installation_kind == WC_installation_kind_DEBIAN && r->package_version)
            make_one(m, make_install(make_format(m, "%.*s%s", (int)(at - r->package), r->package,
                                                 at + strlen(dev)),
                                     make_format(m, "==%s", r->package_version), "/"));
        make_one(m, make_reinstall(m, r));
        WC_EACH(other, r->shared_with) /* "nvidia-cudnn-cu12 9.1.0.70" */
            make_two(m, removal(make_format(m, "%.*s", (int)strcspn(*other, " "), *other), prefix),
                     make_reinstall(m, r));
        WC_EACH(foreign, r->foreign)
            make_one(m, (struct edit){.kind = EDIT_DELETE, .path = *foreign});
        if (WC_ANY(other, m->s->packages, other != p && wc_str_same(other->r.prefix, r->prefix)) ||
            r->installation_kind == WC_installation_kind_WHEEL)
            make_one(m, removal(r->package, prefix));
    }
}

/* ---- releases that are demanded ---- */

/* "<10.0,>=9.8" without blanks; NULL: nothing that a package manager would take. */
static const char *without_blanks(struct making *m, const char *spec) {
    struct wc_spec read;
    const char *made = "";

    if (!spec || !wc_spec_read(spec, &read))
        return NULL;
    for (; *spec; spec++)
        if (*spec != ' ')
            made = make_format(m, "%s%c", made, *spec);
    return made;
}

/* The release that a function came with, and those after it. */
static void add_function(struct making *m, const struct wc_failure *failure, const char *function) {
    const struct wc_version first = wc_function_first(wc_function_find(function));
    struct entries all;

    if (!wc_version_known(first))
        return;
    all = make_environments(m, failure);
    WC_EACH(o, m->s->objects)
        if (o->r.role == WC_role_FACADE)
            make_add(m, &all, make_environment_of(m, wc_path_of(o)));
    WC_EACH(environment, all)
        add_install(m, package_for(m, *environment, wc_caller_of(m->s, failure)),
                    make_from(m, first), *environment);
}

void make_demanded(struct making *m) {
    const struct wc_hosts all = make_hosts(m->s);
    const char *common = make_common(m, &all);

    WC_EACH(d, m->s->demands) {
        const struct wc_object *host = wc_object_of(m->s, d->r.host, d->r.host_path);
        const char *environment = make_environment_of(m, host ? wc_path_of(host) : d->r.host_path);
        if (d->r.demand_kind == WC_demand_kind_REQUIRED && d->r.package)
            add_install(m, d->r.package, without_blanks(m, d->r.spec), environment);
        if (!host && environment)
            add_install(m, package_for(m, environment, NULL),
                        candidates_accepted(m->out->memory, &d->r), environment);
    }
    WC_EACH(host, all) {
        const char *environment = make_environment_of(m, wc_path_of(*host));
        const struct wc_hosts one = {.p = {*host}, .n = 1};
        const char *package = environment ? package_for(m, environment, *host) : NULL;
        add_install(m, package, common, environment);
        if (all.n > 1)
            add_install(m, package, make_common(m, &one), environment);
    }
    WC_EACH(o, m->s->objects) {
        const char *environment =
            o->r.role == WC_role_FACADE ? make_environment_of(m, wc_path_of(o)) : NULL;
        const char *package = environment ? package_for(m, environment, NULL) : NULL;
        struct entries others = {NULL, 0};
        add_install(m, package, common, environment);
        if (package)
            others = make_other_releases(m, o, package);
        WC_EACH(spec, others)
            make_one(m, make_install(package, *spec, environment));
    }
}

void make_function(struct making *m) {
    WC_EACH(failure, m->s->failures) {
        const char *function = failure->r.function ?: failure->said.symbol;
        if (function)
            add_function(m, failure, function);
    }
}

/* ---- libraries that are missing: where they lie, which package has them ---- */

/* The wheel that a file is of: put back where it has brought the missing library, too; installed
 * once more for what it requires, as nobody may have looked after that. */
static void add_owner(struct making *m, const char *file, const char *name) {
    enum { SCRATCH = 32 << 10 };
    struct wc_distribution d;
    struct wc_reading reading;
    struct edit e = {.kind = EDIT_REINSTALL};
    void *scratch = wc_arena_take(m->out->memory, SCRATCH);

    if (!file || file[0] != '/' || !scratch)
        return;
    wc_reading_begin(&reading, m->files, scratch, SCRATCH);
    if (!wc_distribution_of(&reading, file, &d))
        return;
    e.name = make_format(m, "%s", d.name);
    e.value = make_format(m, "%s", d.version);
    e.environment = make_real_path(m, make_format(m, "%s", d.site));
    if (wc_reading_find(&reading, make_format(m, "%s/%s/RECORD", d.site, d.info), 0,
                        make_format(m, "/%s,", name), false) != WC_NOWHERE)
        make_one(m, e);
    make_one(m, make_install(e.name, make_format(m, "==%s", e.value), e.environment));
}

/* A part, or the facade, of another major than the one that is there, or of none. What needs
 * another major and lies elsewhere is none of its affair: the one that is installed is there for
 * others, whether or not they have come to ask for it. */
static void add_major(struct making *m, const struct wc_failure *failure, const char *environment,
                      int32_t major) {
    const char *package = package_for(m, environment, wc_caller_of(m->s, failure));
    const char *name = failure->r.name, *there = NULL;

    if (package && !make_is_conda(environment))
        there = wheel_installed(m->out->memory, m->files, environment, package, NULL);
    if (major <= 0 || (there && wc_version_of(there).major != major && name && name[0] == '/' &&
                       !wc_kind_is_ours(wc_name_kind_of(name)) &&
                       !wc_is_below(make_real_path(m, name), environment, strlen(environment))))
        return;
    add_install(m, package, make_format(m, ">=%d,<%d", major, major + 1), environment);
}

/* The parts of a facade that a package has brought alone: of its very release, where the variable
 * leads to them. */
static void add_parts(struct making *m, const struct wc_failure *failure, const char *site) {
    const struct wc_object *facade = wc_caller_of(m->s, failure);
    const char *package, *release;
    struct wc_version version;
    char text[WC_VERSION_TEXT];

    if (!facade || facade->r.role != WC_role_FACADE || facade->version.patch < 0)
        return;
    version = facade->version;
    version.build = -1;
    package = package_for(m, site, facade);
    release =
        package ? wheel_newest(package, make_format(m, "==%s.*", wc_version_format(version, text)))
                : NULL;
    if (release)
        make_two(m, make_install(package, make_format(m, "==%s", release), site),
                 make_path_with(m, make_format(m, "%s/nvidia/cudnn/lib", site)));
}

/* What NVIDIA's wheels have. Who asks for one library after another does not tell of the next; what
 * a file needs is all known. What a cuDNN for another CUDA than the process's asks for does not
 * make it the right one. */
static void add_wheel(struct making *m, const struct wc_failure *failure, const char *site,
                      const char *name) {
    const int32_t named = wc_name_cuda(name), of_process = cuda_of_process(m, NULL);
    const int32_t cuda = named < 0 ? of_process : -1;
    const char *spec, *wheel;

    if (wc_asked_by_cudnn(m->s, failure) && named > 0 && of_process > 0 && named != of_process)
        return;
    wheel = wheel_with(m->out->memory, name, cuda, &spec);
    if (wheel && (!make_whole_cuda(m, site, failure, wheel, cuda < 0 ? named : cuda) ||
                  !wc_is_asked_for(failure, name)))
        add_install(m, wheel, spec, site);
}

/* Of the directories of a site's wheels that cuDNN and what it needs may lie in: the one that has
 * the library, all of them, and those that lack nothing of what is asked for (together). */
static void add_site(struct making *m, const char *site, const char *name,
                     struct entries *together) {
    const struct entries wheels = make_entries(m, make_format(m, "%s/nvidia", site));
    const char *there = NULL, *all = NULL;

    WC_EACH(wheel, wheels) {
        const char *directory = make_format(m, "%s/nvidia/%s/lib", site, *wheel);
        const struct entries files = make_entries(m, directory);
        if (!there && make_is_there(m, make_format(m, "%s/%s", directory, name)))
            there = directory;
        if (WC_ANY(file, files,
                   wc_name_is_cudnn(*file) || wc_name_kind_of(*file) == WC_NAME_CUDA_DEPENDENCY))
            all = all ? make_format(m, "%s:%s", all, directory) : directory;
    }
    if (!there)
        return;
    if (all && strchr(all, ':'))
        make_one(m, make_path_with(m, all));
    make_path_to(m, make_format(m, "%s/", there));
    make_add(m, together, there);
}

/* Another package of the site has it, in its folder or a lib there: by its directory, or by an
 * import of that package before (extension-cpp#127). */
static void add_elsewhere(struct making *m, const struct wc_failure *failure, const char *site,
                          const char *name) {
    static const char *const places[] = {"", "/lib"};
    const struct entries packages = make_entries(m, site);

    WC_EACH(package, packages)
        WC_EACH_ROW(place, places) {
            const char *file = make_format(m, "%s/%s%s/%s", site, *package, *place, name);
            if (!make_is_there(m, file))
                continue;
            make_path_to(m, file);
            make_import_before(m, file, failure->r.name, file);
        }
}

/* Is one of the findings about it? A host may ask for any number of other names in vain. */
static bool is_missed(const struct making *m, const char *name) {
    return WC_ANY(f, m->base->of_end, wc_str_same(wc_fact_value(f, WC_FACT_MISSING), name));
}

void make_missing(struct making *m) {
    struct entries together = {NULL, 0};
    const char *all = NULL;

    WC_EACH(failure, m->s->failures) {
        const char *missing = wc_missing_of(failure);
        const char *name = missing ? wc_base_name(missing) : NULL;
        const enum wc_name_kind kind = wc_name_kind_of(missing);
        struct entries environments = {NULL, 0};
        if (!name || (kind == WC_NAME_OTHER && !is_missed(m, name)))
            continue;
        add_owner(m, wc_is_asked_for(failure, name) ? failure->r.caller : failure->r.name, name);
        environments = make_environments(m, failure);
        WC_EACH(environment, environments) {
            if (kind == WC_NAME_OTHER && !make_is_conda(*environment))
                add_elsewhere(m, failure, *environment, name);
            if (wc_kind_is_cudnn(kind))
                add_major(m, failure, *environment, wc_name_read(name).version.major);
            if (make_is_conda(*environment))
                continue;
            if (kind == WC_NAME_PART)
                add_parts(m, failure, *environment);
            add_site(m, *environment, name, &together);
            if (kind == WC_NAME_CUDA_DEPENDENCY)
                add_wheel(m, failure, *environment, name);
        }
    }
    WC_EACH(directory, together)
        all = all ? make_format(m, "%s:%s", all, *directory) : *directory;
    if (together.n > 1)
        make_one(m, make_path_with(m, all));
}
