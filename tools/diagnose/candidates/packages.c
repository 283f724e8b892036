/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "making.h"

enum { MINORS_MOST = 4 };

/* ---- where packages are installed ---- */

struct entries make_environments(struct making *m, const struct wc_failure *failure) {
    const struct wc_object *caller = wc_caller_of(m->s, failure);
    const char *of_conda = wc_variable(m->s, "CONDA_PREFIX");
    const struct wc_process_record *p = &m->s->process;
    /* A virtual environment has only links to the interpreter. */
    const char *link = p->arguments.n > 0 ? p->arguments.p[0] : NULL;
    const char *in = make_directory_of(m, link), *program = p->executable;
    struct entries all = {NULL, 0};
    char site[PATH_MAX];

    if (in && in[0] == '/')
        program = make_format(m, "%s/%s", in, wc_base_name(link));

    make_add(m, &all, make_environment_of(m, caller ? wc_path_of(caller) : failure->r.caller));
    if (failure->r.name && failure->r.name[0] == '/')
        make_add(m, &all, make_environment_of(m, failure->r.name));
    if (wc_process_site(m->view.files, program, wc_variable(m->s, "VIRTUAL_ENV"), site,
                        sizeof(site)))
        make_add(m, &all, make_environment_of(m, make_format(m, "%s", site)));
    if (of_conda)
        make_add(m, &all, make_environment_of(m, make_format(m, "%s/lib/", of_conda)));
    return all;
}

/* Of what says so, before the host: a package of Python files asks by a library of Python's. */
static const char *environment_of_demand(struct making *m, const struct wc_demand *d) {
    const struct wc_object *host = wc_object_of(m->s, d->r.host, d->r.host_path);
    const char *of_package = d->r.demand_kind == WC_demand_kind_REQUIRED
                                 ? make_environment_of(m, d->r.source_path)
                                 : NULL;

    return of_package ? of_package
                      : make_environment_of(m, host ? wc_path_of(host) : d->r.host_path);
}

/* ---- which package ---- */

/* Which CUDA the other wheels there are for (cupy-cuda12x; of NVIDIA's from CUDA 13 on by
 * their release); -1: nothing says it. */
static int32_t cuda_of_site(struct making *m, const char *site) {
    static const char runtime[] = "nvidia_cuda_runtime-";

    EACH_ENTRY(entry, make_entries(m, site)) {
        const int32_t cuda = wc_str_starts(*entry, runtime)
                                 ? wheel_version(*entry + strlen(runtime)).major
                                 : wc_cuda_in_package(*entry);
        if (wc_str_ends(*entry, ".dist-info") && cuda > 0)
            return cuda;
    }
    return -1;
}

/* A release of such a set of the package that has cuDNN in an environment: of the installed one,
 * where it is for the CUDA of the process, else of the wheel for that CUDA. Where nothing says
 * which one that is, of the first that has such a release: for the CUDA of the other wheels, of the
 * cuDNN that is loaded, of the toolkit, or one that is assumed (target). No name: no such package
 * is known. */
static struct edit cudnn_for(struct making *m, const char *environment, const char *spec) {
    const struct wc_package *there =
        WC_FIRST(p, m->s->packages, wc_str_same(make_real_path(m, p->r.prefix), environment));
    const int32_t cuda = make_cuda_for(m, environment);
    struct edit e = make_install(there ? there->r.package : "cudnn", spec, environment);

    if (make_is_conda(m, environment) ||
        (there && (cuda < 11 || wc_cuda_in_package(there->r.package) == cuda)))
        return e;
    e.name = cuda >= 11 ? make_format(m, "nvidia-cudnn-cu%d", cuda) : NULL;
    if (cuda >= 0)
        return e;
    const struct wc_object *facade = wc_first_facade(m->s);
    const size_t n = strlen(environment);
    const bool is_of_host =
        WC_ANY(o, m->s->objects,
               wc_wants_cudnn(o) && wc_is_below(wc_real_path_of(o), environment, n)) ||
        WC_ANY(f, m->s->failures,
               f->r.name && wc_is_below(make_real_path(m, f->r.name), environment, n));
    const int32_t maybe[] = {cuda_of_site(m, environment),
                             facade ? wc_cuda_of_set(m->s, facade).major : -1, make_toolkit_cuda(m),
                             is_of_host ? 12 : -1, is_of_host ? 11 : -1};
    WC_EACH_ROW(of, maybe) {
        const char *package = make_format(m, "nvidia-cudnn-cu%d", *of);
        if (e.name || *of <= 0 || !wheel_newest(package, spec))
            continue;
        e.name = package;
        e.target = of > &maybe[2] ? make_format(m, "%d", *of) : NULL;
    }
    return e;
}

/* Where that release of it puts its libraries; NULL: that is not known. */
static const char *directory_of_release(struct making *m, const char *package, const char *spec,
                                        const char *environment) {
    const struct wheel_list files =
        wheel_list(m->view.memory, package, wheel_release(package, spec));

    if (make_is_conda(m, environment))
        return make_format(m, "%s/lib", environment);
    return files.n ? make_directory_of(m, make_format(m, "%s/%s", environment, files.p[0].file))
                   : NULL;
}

static struct edit removal(const char *package, const char *environment) {
    return (struct edit){.kind = EDIT_REMOVE, .name = package, .environment = environment};
}

/* In the same folder, for another CUDA: pip leaves it there. */
static bool shares_folder(struct making *m, const struct wc_package_record *p, const char *package,
                          const char *environment) {
    return wc_str_same(make_real_path(m, p->prefix), environment) &&
           wc_cuda_in_package(p->package) > 0 &&
           wc_cuda_in_package(p->package) != wc_cuda_in_package(package);
}

/* A wheel in a folder of its own, which only this process searches, where it cannot go into the
 * environment, or a package there requires another release or has its files in the same directory.
 * If the host names a wheel of cuDNN, only that one (for two CUDAs in one folder). */
static void add_apart(struct making *m, struct edit e) {
    const char *package = e.name, *spec = e.value, *environment = e.environment;
    const char *root = m->libraries->disk.root, *top = m->s->process.directory;
    const bool may = top && access(make_format(m, "%s%s", root, top), W_OK) == 0;

    if (!may || make_is_conda(m, environment))
        return;
    const struct wc_version release = wheel_release(package, spec);
    const char *folder = make_format(m, "%s/cudnn-%s", top, view_version(m->view, release));
    const char *directory = directory_of_release(m, package, spec, folder);
    bool refused = access(make_format(m, "%s%s", root, environment), W_OK) != 0 ||
                   WC_ANY(p, m->s->packages, shares_folder(m, &p->r, package, environment));
    const bool named = WC_ANY(d, m->s->demands, wc_str_same(d->r.package, package)) ||
                       !WC_ANY(d, m->s->demands, wc_cuda_in_package(d->r.package) > 0);

    /* A pin of the process's own host it would break as well, unless it is of another major. */
    WC_EACH(q, site_of(m->sites, m->view.files, environment)->requires) {
        const char *list = make_format(m, "/%s/METADATA", q->info);
        refused =
            refused || (wheel_is_name(q->package, strlen(q->package), package) &&
                        wc_text_accepts(q->spec, release) == WC_NO &&
                        (wc_text_floor(q->spec).major != release.major ||
                         !WC_ANY(d, m->s->demands, wc_str_ends(d->r.source_path ?: "", list))));
    }
    e.environment = e.path = folder;
    if (directory && refused && named && !make_is_there(m, folder))
        make_two(m, e, make_path_with(m, directory));
}

/* A release of such a set, also in place of that for another CUDA, or with the variable set to it,
 * or gone. Any of them may be NULL: nothing is added. */
static void add_install(struct making *m, struct edit e) {
    if (!e.name || !e.value || !e.environment)
        return;
    make_one(m, e);
    WC_EACH(p, m->s->packages)
        if (shares_folder(m, &p->r, e.name, e.environment))
            make_two(m, removal(p->r.package, e.environment), e);
    const char *directory = directory_of_release(m, e.name, e.value, e.environment);
    if (directory)
        make_two(m, e, make_path_with(m, directory));
    if (m->path)
        make_two(m, e, make_path(""));
    add_apart(m, e);
}

/* ---- packages that are there ---- */

/* Put back, removed, without what others have put there. */
void make_package_anew(struct making *m) {
    static const char dev[] = "-dev";

    WC_EACH(p, m->s->packages) {
        const struct wc_package_record *r = &p->r;
        const char *prefix = make_real_path(m, r->prefix),
                   *at = r->package ? strstr(r->package, dev) : NULL;
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
        struct candidate all = {.n = 0}; /* left out of an image, or by .gitignore ("lib/") */
        WC_EACH(other, m->s->packages)
            if (wc_str_same(other->r.prefix, r->prefix) && other->r.missing_count > 0 &&
                all.n < CANDIDATE_EDITS)
                all.p[all.n++] = make_reinstall(m, &other->r);
        if (all.n > 1)
            candidates_add(m->out, &all);
        if (WC_ANY(other, m->s->packages, other != p && wc_str_same(other->r.prefix, r->prefix)) ||
            r->installation_kind == WC_installation_kind_WHEEL)
            make_one(m, removal(r->package, prefix));
    }
}

/* ---- releases that are wanted ---- */

/* Wherever a host that requires or has cuDNN has packages. */
static struct entries all_environments(struct making *m) {
    struct entries all = {NULL, 0};

    WC_EACH(d, m->s->demands)
        make_add(m, &all, environment_of_demand(m, d));
    WC_EACH(o, m->s->objects)
        if (wc_wants_cudnn(o) || o->r.role == WC_role_FACADE)
            make_add(m, &all, make_environment_of(m, wc_path_of(o)));
    WC_EACH(failure, m->s->failures) {
        const struct wc_searched *search = wc_search_in_vain(m->s, failure);
        if (failure->r.function || wc_name_is_cudnn(wc_missing_of(failure)) ||
            wc_name_is_cudnn(failure->said.version) ||
            (search && wc_name_is_cudnn(search->r.caller))) {
            const char *name = failure->r.name;
            const bool is_other = name && name[0] == '/' && !wc_kind_is_ours(wc_name_kind_of(name));
            /* The cuDNN that is installed there is not for a file elsewhere. */
            EACH_ENTRY(one, make_environments(m, failure))
                if (!is_other || wc_is_below(make_real_path(m, name), *one, strlen(*one)) ||
                    !WC_ANY(p, m->s->packages, wc_str_same(make_real_path(m, p->r.prefix), *one)))
                    make_add(m, &all, *one);
        }
    }
    return all;
}

/* A set with what another one says next to it: ">=9.5" and ">=9.1,<9.12" are ">=9.5,<9.12". */
static const char *both(struct making *m, const char *spec, const char *other) {
    WC_EACH_ELEMENT(e, other, ",") {
        const char *clause = make_format(m, "%.*s", (int)e.n, e.p);
        const bool is_floor = wc_str_starts(clause, ">=") &&
                              wc_version_compare(wc_text_floor(clause), wc_text_floor(spec)) <= 0;
        if (!is_floor && !strstr(make_format(m, "%s,", spec), make_format(m, "%s,", clause)))
            spec = make_format(m, "%s,%s", spec, clause);
    }
    return spec;
}

/* The set, narrowed to what the packages of a site require, as long as a release is left. */
static const char *for_all(struct making *m, const char *package, const char *spec,
                           const char *path) {
    WC_EACH(q, site_of(m->sites, m->view.files, path)->requires) {
        const char *narrowed =
            wheel_is_name(q->package, strlen(q->package), package) ? both(m, spec, q->spec) : spec;
        if (wc_text_accepts(narrowed, wheel_release(package, narrowed)) == WC_YES)
            spec = narrowed;
    }
    return spec;
}

/* The release next to the installed one where only an exclusion refuses that ("!=9.10.*"): pip
 * would take the newest, of whichever major. NULL: something else refuses it, or nothing does. */
static const char *next_to_excluded(struct making *m, const char *package, const char *spec,
                                    const char *site) {
    const char *there = wheel_installed(m->view, site, package, NULL);
    const struct wc_version v = there ? wc_version_of(there) : WC_VERSION_NONE;
    const char *release = NULL;
    struct wc_spec set, bounds = {.n = 0};

    if (!strstr(spec, "!=") || !wc_version_known(v) || !wc_spec_read(spec, &set) ||
        wc_spec_accepts(&set, v) != WC_NO)
        return NULL;
    for (size_t i = 0; i < set.n; i++)
        if (set.clause[i].op != WC_NE && set.clause[i].op != WC_NE_PREFIX)
            bounds.clause[bounds.n++] = set.clause[i];
    if (wc_spec_accepts(&bounds, v) != WC_YES)
        return NULL;
    for (int32_t minor = v.minor; !release && minor < v.minor + MINORS_MOST; minor++)
        release = wheel_newest(
            package, make_format(m, "%s,>%s,==%d.%d.*", spec, there, (int)v.major, (int)minor));
    if (!release)
        release = wheel_newest(package, make_format(m, "%s,<%s", spec, there));
    return release ? make_format(m, "==%s", release) : NULL;
}

/* ---- of Debian's manager ---- */

static bool is_debians(const struct wc_package *p) {
    return p->r.installation_kind == WC_installation_kind_DEBIAN && p->r.package &&
           wc_str_starts(p->r.package, "libcudnn");
}

/* "libcudnn9-cuda-12 9.8.0.87-1" of each that apt's lists have. Lists that are compressed, as
 * images of Docker have them, are not read. */
static struct entries releases_of_apt(struct making *m) {
    static const char lists[] = "/var/lib/apt/lists";
    struct entries out = {NULL, 0};

    EACH_ENTRY(list, make_entries(m, lists)) {
        /* A list may have megabytes. */
        ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory);
        char *rest = wc_str_ends(*list, "_Packages")
                         ? view_text((struct view){&memory.arena, m->view.files},
                                     make_format(m, "%s/%s", lists, *list))
                         : NULL;
        for (const char *line, *name = ""; (line = strsep(&rest, "\n"));)
            if (wc_str_starts(line, "Package: "))
                name = strchr(line, ' ') + 1;
            else if (wc_str_starts(line, "Version: ") && wc_str_starts(name, "libcudnn"))
                make_add(m, &out, make_format(m, "%s %s", name, strchr(line, ' ') + 1));
    }
    return out;
}

/* For that CUDA, in place of the installed release, with the package for developers, or next to
 * that of another major: the newest of apt's lists, the installed one itself, or what is wanted. */
static void add_of_debian(struct making *m, const struct wc_package_record *p, const char *spec,
                          const struct entries *releases, int32_t cuda) {
    const char *best = NULL;
    const int32_t major = wc_text_floor(spec).major;
    const char *of_cuda = major > 8 ? make_format(m, "-cuda-%d", (int)cuda) : "";
    const char *package = make_format(m, "libcudnn%d%s", (int)major, of_cuda);
    const char *dev = make_format(m, "libcudnn%d-dev%s", (int)major, of_cuda);

    if (major < 8 || cuda <= 0)
        return;
    WC_EACH(release, *releases) {
        const size_t n = strcspn(*release, " ");
        const char *version = *release + n + 1;
        const int32_t of = wc_cuda_in_package(version); /* 8.9.7.29-1+cuda12.2 */
        if (n == strlen(package) && strncmp(*release, package, n) == 0 && (of < 0 || of == cuda) &&
            wc_text_accepts(spec, wheel_version(version)) == WC_YES &&
            (!best || wc_version_compare(wheel_version(version), wheel_version(best)) > 0))
            best = version;
    }
    const bool other_cuda = shares_folder(m, p, package, "/");
    if (!best && other_cuda && p->package_version &&
        wc_text_accepts(spec, wheel_version(p->package_version)) == WC_YES &&
        wheel_newest(
            make_format(m, "nvidia-cudnn-cu%d", (int)cuda),
            make_format(m, "==%.*s", (int)strcspn(p->package_version, "-"), p->package_version)))
        best = p->package_version;
    spec = best ? make_format(m, "==%s", best) : spec;
    if (other_cuda)
        make_two(m, removal(p->package, "/"), make_install(package, spec, "/"));
    else if (WC_ANY(one, m->s->packages, wc_str_same(one->r.package, dev)))
        make_two(m, make_install(package, spec, "/"), make_install(dev, spec, "/"));
    else
        make_one(m, make_install(package, spec, "/"));
}

void make_releases(struct making *m) {
    const struct entries environments = all_environments(m), wanted = make_wanted(m);

    WC_EACH(d, m->s->demands)
        if (d->r.demand_kind == WC_demand_kind_REQUIRED) {
            struct wc_spec read; /* else no package manager would take it */
            const char *spec = wc_spec_read(d->r.spec, &read)
                                   ? without_blanks(m->view.memory, d->r.spec, strlen(d->r.spec))
                                   : NULL;
            const char *site = environment_of_demand(m, d);
            const bool of_python = spec && site && d->r.package && !make_is_conda(m, site);
            const char *const sets[] = {
                of_python ? next_to_excluded(m, d->r.package, spec, site) : NULL,
                of_python ? for_all(m, d->r.package, spec, site) : NULL, spec};
            WC_EACH_ROW(set, sets)
                add_install(m, make_install(d->r.package, *set, site));
        }
    WC_EACH(environment, environments)
        WC_EACH(spec, wanted)
            add_install(m, cudnn_for(m, *environment, *spec));
    if (wanted.n && WC_ANY(p, m->s->packages, is_debians(p))) {
        const struct entries releases = releases_of_apt(m);
        const int32_t cuda = make_cuda_for(m, "/");
        WC_EACH(p, m->s->packages) {
            const int32_t named = wc_cuda_in_package(p->r.package);
            const int32_t own = named > 0 ? named : wc_cuda_in_package(p->r.package_version);
            for (size_t i = 0; i < wanted.n && is_debians(p); i++) {
                add_of_debian(m, &p->r, wanted.p[i], &releases, own);
                add_of_debian(m, &p->r, wanted.p[i], &releases, cuda);
            }
        }
    }
}

/* ---- libraries that are missing: where they lie, which package has them ---- */

static struct edit reinstall(struct making *m, const char *site, const char *info,
                             const char *file) {
    struct wc_distribution d;

    wheel_take(&d, site, info);
    struct edit e =
        make_install(make_format(m, "%s", d.name), make_format(m, "%s", d.version), site);
    e.kind = EDIT_REINSTALL;
    e.path = file ? make_place_of_dead_link(m, file) : NULL;
    return e;
}

/* The packages of a site, and of the conda environment that it is in, whose lists have a library of
 * that name, where it is gone or damaged. */
static void add_listed(struct making *m, const char *site, const char *name) {
    const char *const places[] = {site, make_prefix_of(m, make_format(m, "%s/", site))};

    WC_EACH_ROW(place, places) {
        const struct site *of = *place ? site_libraries(m->sites, m->view.files, *place) : NULL;
        for (size_t i = 0; of && i < of->libraries.n; i++) {
            const struct listed_file *file = &of->libraries.p[i];
            const char *path = make_format(m, "%s/%s", *place, file->path);
            struct wc_file_stat facts;
            if (strcmp(wc_base_name(path), name) == 0 &&
                (!m->view.files->facts(m->view.files->ctx, path, &facts) ||
                 (file->size && facts.size != file->size)))
                make_one(m, reinstall(m, *place, file->info, path));
        }
    }
}

/* Where another release is there of the package that has a file, or of what it requires, than that
 * package or any other one accepts: torch pins the nvidia-nvjitlink whose symbols nvidia-cusparse
 * needs, which does not. */
static void add_required(struct making *m, const struct site *site, const struct edit *owner,
                         const char *info) {
    WC_EACH(q, site->requires) {
        const bool counts = wheel_is_name(q->package, strlen(q->package), owner->name) ||
                            WC_ANY(own, site->requires,
                                   wc_str_same(own->info, info) &&
                                       wheel_is_name(q->package, strlen(q->package), own->package));
        struct edit e = make_install(q->package, q->spec, site->path);
        const char *there = counts ? wheel_installed(m->view, site->path, q->package, NULL) : NULL;
        if (!there || wc_text_accepts(q->spec, wc_version_of(there)) != WC_NO)
            continue;
        e.because = q->by;
        make_one(m, e);
    }
}

/* Each release of nvJitLink has its functions under its own number: "__nvJitLinkCreate_12_9" came
 * with 12.9. As a set; NULL: no such symbol is wanted. */
static const char *release_of_symbol(struct making *m, const char *symbol) {
    const bool counts = symbol && wc_str_starts(symbol, "__nvJitLink");
    const char *major = counts ? strchr(symbol + 2, '_') : NULL;
    const char *minor = major ? strchr(major + 1, '_') : NULL;

    return minor ? make_format(m, ">=%.*s.%s", (int)(minor - major - 1), major + 1, minor + 1)
                 : NULL;
}

/* The package that has a file on its list: put back where the loader refuses that very file;
 * installed again for what it requires, as it may not have been looked at after that. Of a link
 * also that of the file: "torch/lib/../../../../libcufft.so.10". missing: what it needs; NULL:
 * nothing is missing. wanted: releases of it; NULL: the installed one. */
static void add_owner(struct making *m, const char *file, const char *missing, bool refused,
                      const char *wanted) {
    const char *real = file && file[0] == '/' ? make_real_path(m, file) : NULL;
    const char *const files[] = {real ? file : NULL, real};
    struct entries environments = {NULL, 0};

    WC_EACH_ROW(one, files) {
        make_add(m, &environments, make_environment_of(m, *one));
        make_add(m, &environments, make_prefix_of(m, *one));
    }
    WC_EACH(environment, environments) {
        const char *path = *environment;
        const struct site *site = site_libraries(m->sites, m->view.files, path);
        WC_EACH(listed, site->libraries) {
            if (strcmp(wc_base_name(listed->path), wc_base_name(real)) != 0 ||
                !wc_str_same(make_real_path(m, make_format(m, "%s/%s", path, listed->path)), real))
                continue;
            const struct edit e = reinstall(m, path, listed->info, NULL);
            if (refused)
                make_one(m, e);
            if (refused || wc_kind_is_ours(wc_name_kind_of(missing)))
                make_one(m, make_install(e.name, make_format(m, "==%s", e.value), path));
            add_required(m, site, &e, listed->info);
            if (wanted)
                make_one(m, make_install(e.name, for_all(m, e.name, wanted, path), path));
        }
    }
}

/* The parts of a facade that a package has without parts: of exactly its release, where the
 * variable points to them. */
static void add_parts(struct making *m, const struct wc_failure *failure, const char *site) {
    const struct wc_object *facade = wc_caller_of(m->s, failure);

    if (!facade || facade->r.role != WC_role_FACADE || facade->version.patch < 0)
        return;
    struct wc_version version = facade->version;
    version.build = -1;
    struct edit e = cudnn_for(m, site, make_format(m, "==%s.*", view_version(m->view, version)));
    const char *release = e.name ? wheel_newest(e.name, e.value) : NULL;
    if (!release)
        return;
    e.value = make_format(m, "==%s", release);
    make_two(m, e, make_path_with(m, make_format(m, "%s/nvidia/cudnn/lib", site)));
    add_apart(m, e);
}

/* What NVIDIA's wheels have. A host that requests one library after another does not show the next;
 * what a file needs is all known. What a cuDNN for another CUDA than the process's asks for does
 * not make it the right one. */
static void add_wheel(struct making *m, const struct wc_failure *failure, const char *site,
                      const char *name) {
    const int32_t named = wc_name_cuda(name), of_process = wc_cuda_of_dependencies(m->s);
    const int32_t of_site = named < 0 && of_process < 0 ? cuda_of_site(m, site) : of_process;
    const int32_t cuda = named < 0 ? of_site : -1;
    const char *spec, *wheel;

    if (wc_asked_by_cudnn(m->s, failure) && named > 0 && of_process > 0 && named != of_process)
        return;
    wheel = wheel_with(m->view.memory, name, cuda, &spec);
    if (wheel && (!make_whole_cuda(m, site, wheel, cuda < 0 ? named : cuda) ||
                  !wc_is_asked_for(failure, name)))
        add_install(m, make_install(wheel, spec, site));
}

/* What conda has, for a file that one of its packages has. */
static void add_of_conda(struct making *m, const char *file, const char *name) {
    const char *prefix = make_prefix_of(m, file);
    const struct site *site = prefix ? site_libraries(m->sites, m->view.files, prefix) : NULL;
    const struct wc_version v = wc_name_read(name).version;

    if (wc_name_cuda(name) > 0 && site &&
        WC_ANY(one, site->libraries, strcmp(wc_base_name(one->path), wc_base_name(file)) == 0))
        make_one(m, make_install(v.major < 12 ? "cudatoolkit" : "cuda-libraries",
                                 v.major < 11 && v.minor >= 0
                                     ? make_format(m, "==%d.%d.*", (int)v.major, (int)v.minor)
                                     : make_format(m, "==%d.*", (int)v.major),
                                 prefix));
}

void make_missing(struct making *m) {
    WC_EACH(f, m->base->of_end) { /* that it lacks a symbol, or its version */
        const char *refused = wc_fact_value(f, WC_FACT_REFUSED);
        const char *site = refused ? make_environment_of(m, refused) : NULL;
        const struct library *l = site ? library_cache_get(m->libraries, refused, NULL) : NULL;
        add_owner(m, refused, NULL, false, NULL);
        add_owner(m, wc_fact_path(f, WC_FACT_LIBRARY), NULL, false,
                  release_of_symbol(m, wc_fact_value(f, WC_FACT_WANTED_FUNCTION)));
        /* What it needs may be another package's: two of NCCL have it at one path (CodeJudge#2). */
        for (const char **name = l ? l->needed : NULL; name && *name; name++)
            add_listed(m, site, *name);
    }
    WC_EACH(failure, m->s->failures) {
        const char *name = wc_base_name(wc_missing_of(failure));
        const enum wc_name_kind kind = wc_name_kind_of(name);
        if (!name || !(wc_kind_is_ours(kind) || make_matters(m, name)))
            continue;
        const struct entries environments = make_environments(m, failure);
        const bool is_asked = wc_is_asked_for(failure, name);
        const char *file = is_asked ? failure->r.caller : failure->r.name;
        WC_EACH(environment, environments) { /* cuDNN asks for each part by four names */
            if (!wc_asked_by_cudnn(m->s, failure) || wc_name_read(name).version.minor < 0)
                add_listed(m, *environment, name);
            if (file && !is_asked) /* another package may have overwritten it */
                add_listed(m, *environment, wc_base_name(file));
        }
        add_owner(m, file, name, false, NULL);
        add_of_conda(m, file, name);
        WC_EACH(environment, environments) {
            if (make_is_conda(m, *environment))
                continue;
            if (kind == WC_NAME_PART)
                add_parts(m, failure, *environment);
            if (kind == WC_NAME_CUDA_DEPENDENCY)
                add_wheel(m, failure, *environment, name);
        }
    }
    const struct entries environments = all_environments(m);
    WC_EACH(o, m->s->objects) /* of CUDA, from elsewhere: that of the wheel is gone */
        WC_EACH(environment, environments)
            if (o->r.role == WC_role_CUDA_DEPENDENCY && o->r.soname &&
                !wc_is_below(wc_path_of(o), *environment, strlen(*environment)))
                add_listed(m, *environment, o->r.soname);
    WC_EACH(file, m->s->files) /* that the loader refuses: patchelf#528 */
        if (file->r.fault != WC_file_fault_UNKNOWN)
            add_owner(m, file->r.path, NULL, true, NULL);
}
