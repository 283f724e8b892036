/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/elf/file_check.h"
#include "core/findings/finding.h"
#include "core/model/symbols.h"
#include "core/packages/distribution.h"
#include "core/packages/identify.h"
#include "core/packages/installation.h"
#include "core/search/loader_words.h"
#include "wheels.h"

enum { CANDIDATES_MOST = 128, ENVIRONMENTS_MOST = 4, SCRATCH = 32 << 10 };

struct finding_of {
    struct candidates *out;
    const struct replay *r;
    const struct wc_files *files;
    const struct wc_stack *stacks[2]; /* the process's own, and the replay's */
    const struct wc_stack *s;         /* of these: the one that is looked through */
    const char *path;                 /* LD_LIBRARY_PATH; NULL: not set */
    bool for_gpu;                     /* the GPU may be what is wrong */
    bool for_release;                 /* the release has a documented defect */
};

/* ---- one candidate ---- */

#define format(f, ...) wc_arena_format((f)->out->memory, __VA_ARGS__)

static bool is_same_edit(const struct edit *a, const struct edit *b) {
    return a->kind == b->kind && wc_str_same(a->name, b->name) && wc_str_same(a->value, b->value) &&
           wc_str_same(a->path, b->path) && wc_str_same(a->target, b->target) &&
           wc_str_same(a->environment, b->environment);
}

static bool is_known(const struct candidates *c, const struct candidate *one) {
    for (size_t i = 0; i < c->n; i++) {
        bool same = c->p[i].n == one->n;
        for (size_t k = 0; same && k < one->n; k++)
            same = is_same_edit(&c->p[i].edit[k], &one->edit[k]);
        if (same)
            return true;
    }
    return false;
}

void candidates_add(struct candidates *c, const struct candidate *one) {
    if (c->n < CANDIDATES_MOST && !is_known(c, one))
        *MUST_ADD(c->p, c->n) = *one;
}

static void add_one(struct finding_of *f, struct edit edit) {
    if (edit.kind == EDIT_SET && wc_str_same(edit.name, "LD_LIBRARY_PATH") &&
        wc_str_same(edit.value, f->path))
        return; /* it has that value */
    candidates_add(f->out, &(struct candidate){{edit}, 1});
}

static void add_two(struct finding_of *f, struct edit first, struct edit second) {
    candidates_add(f->out, &(struct candidate){{first, second}, 2});
}

static const char *directory_of(struct finding_of *f, const char *path) {
    size_t n = path ? wc_dir_length(path) : 0;

    return n ? format(f, "%.*s", (int)n, path) : NULL;
}

static const char *real_path(struct finding_of *f, const char *path) {
    char real[PATH_MAX];

    return f->files->real_path(f->files->ctx, path, real, sizeof(real)) ? format(f, "%s", real)
                                                                        : path;
}

/* site-packages, or the conda environment, that a file lies in; NULL: none. */
static const char *environment_of(struct finding_of *f, const char *path) {
    size_t n = path ? wc_environment_length(path) : 0;
    const char *environment = n ? format(f, "%.*s", (int)n, path) : NULL;
    struct wc_file_stat facts;

    if (!environment)
        return NULL;
    if (wc_str_ends(environment, "-packages"))
        return real_path(f, environment);
    for (n = wc_dir_length(path); n > 1; n = wc_dir_above(path, n)) {
        const char *prefix = format(f, "%.*s", (int)n, path);
        if (f->files->facts(f->files->ctx, format(f, "%s/conda-meta", prefix), &facts))
            return real_path(f, prefix);
    }
    return NULL;
}

/* As environment_of() has it. */
static const char *prefix_of(struct finding_of *f, const struct wc_package_record *p) {
    return p->prefix ? real_path(f, p->prefix) : NULL;
}

static bool is_conda(const char *environment) {
    return environment && !wc_str_ends(environment, "-packages");
}

/* ---- variables ---- */

static struct edit set_path(struct finding_of *f, const char *value) {
    (void)f;
    return *value ? (struct edit){.kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = value}
                  : (struct edit){.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"};
}

const char *candidates_path_with(struct wc_arena *memory, const char *path, const char *directory) {
    const char *value = directory;

    for (const char *rest = path ? path : ""; *rest;) {
        size_t n = strcspn(rest, ":");
        if (rest[0] == '/' && (n != strlen(directory) || strncmp(rest, directory, n) != 0))
            value = wc_arena_format(memory, "%s:%.*s", value, (int)n, rest);
        rest += n + (rest[n] != '\0');
    }
    return value;
}

static struct edit with_directory(struct finding_of *f, const char *directory) {
    return set_path(f, candidates_path_with(f->out->memory, f->path, directory));
}

/* Such directories in front of the others. */
static struct edit in_front(struct finding_of *f, const char *directories) {
    const char *value = directories;

    for (const char *rest = f->path ? f->path : ""; *rest;) {
        size_t n = strcspn(rest, ":");
        if (rest[0] == '/')
            value = format(f, "%s:%.*s", value, (int)n, rest);
        rest += n + (rest[n] != '\0');
    }
    return set_path(f, value);
}

static void add_directory(struct finding_of *f, const char *file) {
    const char *directory = directory_of(f, file);

    if (directory && directory[0] == '/' && !strchr(directory, ':'))
        add_one(f, with_directory(f, directory));
}

/* Of a list without its i-th element. */
static const char *without(struct finding_of *f, const char *list, const char *separators,
                           size_t i) {
    const char *value = "";

    for (size_t at = 0;; at++) {
        size_t n = strcspn(list, separators);
        if (at != i)
            value = format(f, "%s%s%.*s", value, *value ? ":" : "", (int)n, list);
        if (!list[n])
            return value;
        list += n + 1;
    }
}

static size_t elements_of(const char *list, const char *separators) {
    size_t n = 1;

    for (; *list; list++)
        n += strchr(separators, *list) != NULL;
    return n;
}

/* What a file with another system's ends of lines, or a line of it with quotes, has left behind at
 * either end of an element. */
static bool is_left_behind(char c) {
    return (unsigned char)c <= ' ' || c == '"' || c == '\'';
}

/* ":", and ", " as people write lists. */
static size_t element_length(const char *list) {
    size_t n = 0;

    while (list[n] && list[n] != ':' && strncmp(list + n, ", ", 2) != 0)
        n++;
    return n;
}

/* Each element that is a whole path, without what a shell would have taken away. */
static void find_cleaned(struct finding_of *f) {
    static const char unexpanded[] = "${LD_LIBRARY_PATH";
    const char *value = "";

    for (const char *rest = f->path ? f->path : ""; *rest;) {
        const size_t whole = element_length(rest);
        const char *at = memmem(rest, whole, unexpanded, sizeof(unexpanded) - 1);
        size_t from = 0, n = at ? (size_t)(at - rest) : whole;
        while (from < n && is_left_behind(rest[from]))
            from++;
        while (n > from && is_left_behind(rest[n - 1]))
            n--;
        if (rest[from] == '/' && n > from)
            value = format(f, "%s%s%.*s", value, *value ? ":" : "", (int)(n - from), rest + from);
        rest += whole + (rest[whole] != '\0');
    }
    if (*value)
        add_one(f, set_path(f, value));
}

static void find_variables(struct finding_of *f) {
    const char *preload = wc_variable(f->stacks[0], "LD_PRELOAD"); /* without our own library */

    if (f->path) {
        size_t n = elements_of(f->path, ":");
        for (size_t i = 0; n > 1 && i < n; i++)
            add_one(f, set_path(f, without(f, f->path, ":", i)));
        add_one(f, (struct edit){.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"});
    }
    for (size_t i = 0; preload && *preload && i < elements_of(preload, " :"); i++) {
        const char *value = without(f, preload, " :", i);
        add_one(f, *value ? (struct edit){.kind = EDIT_SET, .name = "LD_PRELOAD", .value = value}
                          : (struct edit){.kind = EDIT_UNSET, .name = "LD_PRELOAD"});
    }
    WC_EACH(search, f->s->searches)
        if (search->r.later_path && !wc_str_same(search->r.later_path, f->path ? f->path : ""))
            add_one(f, set_path(f, search->r.later_path));
}

/* The directory in a path whose name has a colon, and it alone; its length. 0: none, or several. */
static size_t colon_length(const char *path) {
    const char *colon = strchr(path, ':');
    const size_t n = colon ? (size_t)(colon - path) + strcspn(colon, "/") : 0;

    return strchr(path + n, ':') ? 0 : n;
}

/* A directory that the loader's list cannot name, by a link to it that it can. */
static void add_without_colon(struct finding_of *f, const char *before, const char *path,
                              const char *behind) {
    const size_t n = colon_length(path);
    char *link = n ? format(f, "%.*s", (int)n, path) : NULL;
    struct wc_file_stat facts;
    const char *value;

    if (!link || !wc_is_directory(f->files, path))
        return;
    for (char *at = link; (at = strchr(at, ':'));)
        *at = '-';
    if (f->files->facts(f->files->ctx, link, &facts))
        return;
    value = format(f, "%s%s%s%s%s", before, link, path + n, *behind ? ":" : "", behind);
    add_two(f,
            (struct edit){.kind = EDIT_LINK,
                          .path = link,
                          .target = wc_base_name(format(f, "%.*s", (int)n, path))},
            set_path(f, value));
}

/* Elements that are one directory, which a colon in its name has split. */
static void find_split(struct finding_of *f) {
    for (const char *from = f->path ? f->path : ""; *from;) {
        const size_t n = strcspn(from, ":");
        for (size_t k = n; from[0] == '/' && from[k];) {
            k += 1 + strcspn(from + k + 1, ":");
            add_without_colon(f, format(f, "%.*s", (int)(from - f->path), f->path),
                              format(f, "%.*s", (int)k, from), from + k + (from[k] != '\0'));
        }
        from += n + (from[n] != '\0');
    }
}

/* An expectation that is no version: nothing can meet it. */
static void find_expectations(struct finding_of *f) {
    static const char variable[] = "WHICHCUDNN_EXPECT";
    struct wc_spec spec;

    WC_EACH(d, f->s->demands)
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION && !d->r.built &&
            wc_str_same(d->r.source, variable) && !(wc_spec_read(d->r.spec, &spec) && spec.n))
            add_one(f, (struct edit){.kind = EDIT_UNSET, .name = variable});
}

static void find_copies(struct finding_of *f) {
    WC_EACH(c, f->s->candidates)
        if (c->r.file_state == WC_file_state_FITS)
            add_directory(f, c->r.path);
    WC_EACH(o, f->s->objects)
        if (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY) {
            add_directory(f, o->r.path);
            if (o->r.real_path)
                add_directory(f, o->r.real_path);
        }
    WC_EACH(p, f->s->packages)
        if (p->r.installation_path && p->r.package_state != WC_package_state_INCOMPLETE)
            add_directory(f, format(f, "%s/lib/",
                                    p->r.installation_kind == WC_installation_kind_CONDA
                                        ? p->r.prefix
                                        : p->r.installation_path));
    WC_EACH(file, f->s->files)
        if (file->r.fault == WC_file_fault_UNKNOWN && file->r.content)
            add_directory(f, file->r.path);
}

/* ---- packages ---- */

/* "nvidia-cudnn-cu12" of "nvidia-cudnn-cu12 9.1.0.70". */
static const char *bare_name(struct finding_of *f, const char *package) {
    return format(f, "%.*s", (int)strcspn(package, " "), package);
}

static struct edit reinstall(const struct wc_package_record *p, const char *prefix) {
    return (struct edit){.kind = EDIT_REINSTALL,
                         .name = p->package,
                         .value = p->package_version,
                         .environment = prefix};
}

static struct edit install(const char *package, const char *spec, const char *environment) {
    return (struct edit){
        .kind = EDIT_INSTALL, .name = package, .value = spec, .environment = environment};
}

/* "libcudnn8-dev", "libcudnn9-dev-cuda-12" need the libraries of the same release, which may have
 * been removed by themselves. */
static void add_libraries_of(struct finding_of *f, const struct wc_package_record *r) {
    static const char dev[] = "-dev";
    const char *at = strstr(r->package, dev);

    if (at && r->installation_kind == WC_installation_kind_DEBIAN && r->package_version)
        add_one(f,
                install(format(f, "%.*s%s", (int)(at - r->package), r->package, at + strlen(dev)),
                        format(f, "==%s", r->package_version), "/"));
}

static void find_packages(struct finding_of *f) {
    WC_EACH(p, f->s->packages) {
        const struct wc_package_record *r = &p->r;
        const char *prefix = prefix_of(f, r);
        if (!r->package || !prefix)
            continue;
        add_libraries_of(f, r);
        add_one(f, reinstall(r, prefix));
        WC_EACH(other, r->shared_with)
            add_two(f,
                    (struct edit){
                        .kind = EDIT_REMOVE, .name = bare_name(f, *other), .environment = prefix},
                    reinstall(r, prefix));
        WC_EACH(foreign, r->foreign)
            add_one(f, (struct edit){.kind = EDIT_DELETE, .path = *foreign});
        if (WC_ANY(other, f->s->packages, other != p && wc_str_same(other->r.prefix, r->prefix)) ||
            r->installation_kind == WC_installation_kind_WHEEL)
            add_one(f,
                    (struct edit){.kind = EDIT_REMOVE, .name = r->package, .environment = prefix});
    }
}

/* "<10.0,>=9.8" without blanks; NULL: nothing that a package manager would take. */
static const char *spec_of(struct finding_of *f, const char *spec) {
    struct wc_spec read;
    const char *made = "";

    if (!spec || !wc_spec_read(spec, &read))
        return NULL;
    for (; *spec; spec++)
        if (*spec != ' ')
            made = format(f, "%s%c", made, *spec);
    return made;
}

/* Where that wheel puts its libraries. */
static const char *wheel_directory(struct finding_of *f, const struct edit *e) {
    char version[WC_VERSION_TEXT];
    struct wheel_list files = wheel_list(
        f->out->memory, e->name, wc_version_format(wheel_release(e->name, e->value), version));

    return files.n && e->environment
               ? directory_of(f, format(f, "%s/%s", e->environment, files.p[0].file))
               : NULL;
}

static void add_install(struct finding_of *f, const char *package, const char *spec,
                        const char *environment) {
    struct edit e = install(package, spec, environment);
    const char *directory;

    if (!package || !spec || !environment)
        return;
    add_one(f, e);
    WC_EACH(p, f->s->packages)
        if (wc_str_same(prefix_of(f, &p->r), environment) && !wc_str_same(p->r.package, package) &&
            strstr(package, "cudnn"))
            add_two(f,
                    (struct edit){
                        .kind = EDIT_REMOVE, .name = p->r.package, .environment = environment},
                    e);
    directory = is_conda(environment) ? format(f, "%s/lib", environment) : wheel_directory(f, &e);
    if (directory)
        add_two(f, e, with_directory(f, directory));
    if (f->path)
        add_two(f, e, (struct edit){.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"});
}

/* The release of a wheel that counts as installed; NULL: none does. */
struct installed {
    struct finding_of *f;
    char name[96];
    const char *version;
};

static bool is_installed(void *installed, const char *entry) {
    struct installed *i = installed;
    const char *dash = strchr(entry, '-');
    const size_t suffix = strlen(".dist-info");
    char name[96];

    if (!dash || !wc_str_ends(entry, ".dist-info"))
        return true;
    wc_distribution_normalise(entry, (size_t)(dash - entry), name, sizeof(name));
    if (strcmp(name, i->name) == 0)
        i->version = format(i->f, "%.*s", (int)(strlen(dash + 1) - suffix), dash + 1);
    return !i->version;
}

static const char *installed_version(struct finding_of *f, const char *site, const char *package) {
    struct installed i = {.f = f};

    wc_distribution_normalise(package, strlen(package), i.name, sizeof(i.name));
    f->files->list(f->files->ctx, site, is_installed, &i);
    return i.version;
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
        if (installed_version(f, site, wheel->package))
            return wheel->cuda;
    return -1;
}

/* What the process is made for, as far as its host or the libraries of CUDA in it say it. */
static int32_t cuda_of_process(struct finding_of *f, const struct wc_object *host) {
    int32_t cuda = host ? wc_cuda_of_host(f->s, host).major : -1;

    if (cuda < 0 && host)
        cuda = wc_cuda_in_package(host->r.installation);
    return cuda < 0 ? wc_cuda_of_dependencies(f->s) : cuda;
}

/* The package that has cuDNN in an environment: the one that is there, where it is for the CUDA of
 * the process. */
static const char *package_for(struct finding_of *f, const char *environment,
                               const struct wc_object *host) {
    const struct wc_package *there =
        WC_FIRST(p, f->s->packages, wc_str_same(prefix_of(f, &p->r), environment));
    int32_t cuda = cuda_of_process(f, host);

    if (is_conda(environment))
        return there ? there->r.package : "cudnn";
    if (cuda < 0 && !there)
        cuda = cuda_of_site(f, environment);
    if (there && (cuda < 11 || wc_cuda_in_package(there->r.package) == cuda))
        return there->r.package;
    return cuda >= 11 ? format(f, "nvidia-cudnn-cu%d", cuda) : NULL;
}

static const char *short_version(struct candidates *c, struct wc_version v) {
    char text[WC_VERSION_TEXT];

    v.build = -1;
    if (v.patch == 0)
        v.patch = -1;
    if (v.patch < 0 && v.minor == 0)
        v.minor = -1;
    return wc_arena_string(c->memory, wc_version_format(v, text));
}

const char *candidates_common(struct candidates *c, const struct wc_stack *s,
                              const struct wc_hosts *hosts) {
    struct wc_version low, high;

    if (!wc_common_releases(s, hosts, &low, &high))
        return NULL;
    if (!wc_version_known(high))
        return wc_arena_format(c->memory, ">=%s", short_version(c, low));
    return wc_arena_format(c->memory, ">=%s,<%s", short_version(c, low), short_version(c, high));
}

/* Releases that NVIDIA's own words are about: in place of a bad one, or for another GPU. */
static const struct {
    const char *bad, *instead;
} bad_releases[] = {
#define BAD_RELEASE(releases, framework, of_it, what, instead, source) {releases, instead},
#include "core/findings/shared/bad_releases.def"
};

static const struct gpu_row {
    const char *first, *last, *least, *most;
    int32_t cuda;
} gpu_releases[] = {
#define GPUS(first, last, cuda, least, most, goes_on) {first, last, least, most, cuda},
#include "core/findings/shared/gpus.def"
};

/* Of all GPUs it must be known that they have code: "NVIDIA B200, 10.0". What goes on without an
 * end has it for later ones, too. */
static bool knows_gpus(const struct wc_stack *s, const struct gpu_row *row) {
    WC_EACH(gpu, s->machine.gpus) {
        const char *at = strrchr(*gpu, ',');
        struct wc_version capability = wc_version_of(at && at[1] == ' ' ? at + 2 : NULL);
        if (!wc_version_known(capability) ||
            wc_version_compare(capability, wc_version_of(row->least)) < 0 ||
            (*row->most ? capability.major > wc_version_of(row->most).major : *row->last != 0))
            return false;
    }
    return s->machine.gpus.n > 0;
}

/* The first row that speaks of its releases, made for that CUDA. */
static bool is_row_for(const struct gpu_row *row, int32_t cuda) {
    if (row->cuda && row->cuda != cuda)
        return false;
    WC_EACH_ROW(other, gpu_releases)
        if (other < row && strcmp(other->first, row->first) == 0 && other->cuda == cuda)
            return false;
    return true;
}

static struct wc_version end_of(const struct gpu_row *row) {
    struct wc_version end = wc_version_of(row->last);

    if (wc_version_known(end))
        end.minor++;
    return end;
}

bool candidates_gpu_releases(const struct wc_stack *s, size_t i, struct wc_version *first,
                             struct wc_version *end) {
    const int32_t cuda = wc_cuda_of_dependencies(s);

    WC_EACH_ROW(row, gpu_releases)
        if (is_row_for(row, cuda) && knows_gpus(s, row) && i-- == 0) {
            *first = wc_version_of(row->first);
            *end = end_of(row);
            return true;
        }
    return false;
}

bool candidates_has_gpu_code(const struct wc_stack *s, struct wc_version release) {
    struct wc_version first, end;

    for (size_t i = 0; candidates_gpu_releases(s, i, &first, &end); i++)
        if (wc_version_compare(release, first) >= 0 &&
            (!wc_version_known(end) || wc_version_compare(release, end) < 0))
            return true;
    return false;
}

static void find_other_releases(struct finding_of *f, const struct wc_object *facade) {
    const char *environment = environment_of(f, wc_path_of(facade));
    const char *package = environment ? package_for(f, environment, NULL) : NULL;

    if (!package)
        return;
    WC_EACH_ROW(row, bad_releases) {
        struct wc_spec bad;
        if (f->for_release && wc_spec_read(row->bad, &bad) &&
            wc_spec_accepts(&bad, facade->version) == WC_YES)
            add_one(f, install(package, row->instead, environment));
    }
    WC_EACH_ROW(row, gpu_releases) {
        if (!f->for_gpu || wc_version_of(row->first).major != facade->version.major ||
            !is_row_for(row, wc_cuda_in_package(package)) || !knows_gpus(f->s, row))
            continue;
        add_one(f, install(package,
                           *row->last ? format(f, ">=%s,<%s", row->first,
                                               short_version(f->out, end_of(row)))
                                      : format(f, ">=%s", row->first),
                           environment));
    }
}

static void find_installs(struct finding_of *f) {
    struct wc_hosts all = {.n = 0};

    WC_EACH(host, f->s->objects)
        if (wc_wants_cudnn(host) && all.n < 16)
            all.p[all.n++] = host;
    WC_EACH(d, f->s->demands) {
        const struct wc_object *host = wc_object_of(f->s, d->r.host, d->r.host_path);
        const char *environment = environment_of(f, host ? wc_path_of(host) : d->r.host_path);
        if (d->r.demand_kind == WC_demand_kind_REQUIRED && d->r.package)
            add_install(f, d->r.package, spec_of(f, d->r.spec), environment);
    }
    WC_EACH(host, all) {
        const char *environment = environment_of(f, wc_path_of(*host));
        struct wc_hosts one = {.p = {*host}, .n = 1};
        const char *package = environment ? package_for(f, environment, *host) : NULL;
        add_install(f, package, candidates_common(f->out, f->s, &all), environment);
        if (all.n > 1)
            add_install(f, package, candidates_common(f->out, f->s, &one), environment);
    }
    WC_EACH(o, f->s->objects) {
        const char *environment =
            o->r.role == WC_role_FACADE ? environment_of(f, wc_path_of(o)) : NULL;
        if (!environment)
            continue;
        add_install(f, package_for(f, environment, NULL), candidates_common(f->out, f->s, &all),
                    environment);
        find_other_releases(f, o);
    }
}

/* ---- CUDA libraries that are missing ---- */

/* Directories below site/nvidia that have a library of that name. */
struct directories {
    struct finding_of *f;
    const char *site, *name, *found;
};

static bool has_library(void *arg, const char *entry) {
    struct directories *d = arg;
    const char *path = format(d->f, "%s/nvidia/%s/lib/%s", d->site, entry, d->name);
    struct wc_file_stat facts;

    if (d->f->files->facts(d->f->files->ctx, path, &facts))
        d->found = path;
    return !d->found;
}

static bool is_of_cuda(void *found, const char *name) {
    *(bool *)found =
        wc_kind_is_cudnn(wc_name_kind_of(name)) || wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY;
    return !*(bool *)found;
}

static bool add_if_of_cuda(void *arg, const char *entry) {
    struct directories *d = arg;
    const char *directory = format(d->f, "%s/nvidia/%s/lib", d->site, entry);
    bool found = false;

    d->f->files->list(d->f->files->ctx, directory, is_of_cuda, &found);
    if (found)
        d->found = d->found ? format(d->f, "%s:%s", d->found, directory) : directory;
    return true;
}

/* All directories of a site's wheels that cuDNN and what it needs may lie in. */
static void add_site(struct finding_of *f, const char *site) {
    struct directories d = {.f = f, .site = site};

    f->files->list(f->files->ctx, format(f, "%s/nvidia", site), add_if_of_cuda, &d);
    if (d.found && strchr(d.found, ':'))
        add_one(f, in_front(f, d.found));
}

static const char *library_in(struct finding_of *f, const char *site, const char *name) {
    struct directories d = {.f = f, .site = site, .name = name};

    f->files->list(f->files->ctx, format(f, "%s/nvidia", site), has_library, &d);
    return d.found;
}

/* Where who asked for it, or the process, may have it installed. */
struct environments {
    const char *p[ENVIRONMENTS_MOST];
    size_t n;
};

static void add_environment(struct environments *to, const char *environment) {
    for (size_t i = 0; i < to->n; i++)
        if (wc_str_same(to->p[i], environment))
            return;
    if (environment && to->n < ENVIRONMENTS_MOST)
        to->p[to->n++] = environment;
}

static struct environments environments_of(struct finding_of *f, const struct wc_failure *failure) {
    const struct wc_object *caller = wc_caller_of(f->s, failure);
    const struct wc_searched *search = wc_search_in_vain(f->s, failure);
    const char *of_venv = wc_variable(f->s, "VIRTUAL_ENV");
    const char *of_conda = wc_variable(f->s, "CONDA_PREFIX");
    struct environments all = {.n = 0};
    char site[PATH_MAX];

    add_environment(&all, environment_of(f, caller ? wc_path_of(caller) : failure->r.caller));
    if (failure->r.name && failure->r.name[0] == '/')
        add_environment(&all, environment_of(f, failure->r.name));
    if (search)
        WC_EACH(looked, search->r.searched) {
            const char *directory = strstr(*looked, " /");
            if (directory)
                add_environment(&all, environment_of(f, format(f, "%s/", directory + 1)));
        }
    if (wc_process_site(f->files, f->s->process.executable, of_venv, site, sizeof(site)))
        add_environment(&all, environment_of(f, format(f, "%s", site)));
    if (of_conda)
        add_environment(&all, environment_of(f, format(f, "%s/lib/", of_conda)));
    return all;
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
    if (wc_conda_packages(&reading, format(f, "%s/lib/%s", prefix, name), true, may_have,
                          (void *)(uintptr_t)name, owner, 1))
        add_one(f, (struct edit){.kind = EDIT_REINSTALL,
                                 .name = owner->name,
                                 .value = owner->version,
                                 .environment = prefix});
}

/* Put back into one piece where it counts as installed. */
static void add_again(struct finding_of *f, const char *site, const char *package) {
    const char *version = package ? installed_version(f, site, package) : NULL;

    if (version)
        add_one(
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
                      .name = format(f, "%s", d.name),
                      .value = format(f, "%s", d.version),
                      .environment = real_path(f, format(f, "%s", d.site))};
    if (wc_reading_find(&reading, format(f, "%s/%s/RECORD", d.site, d.info), 0,
                        format(f, "/%s,", name), false) != WC_NOWHERE)
        add_one(f, e);
    add_one(f, install(e.name, format(f, "==%s", e.value), e.environment));
}

/* What needs another major lies elsewhere: the one that is installed is there for others, whether
 * or not they have come to ask for it. */
static bool is_of_others(struct finding_of *f, const struct wc_failure *failure,
                         const char *environment, const char *package, int32_t major) {
    const char *there =
        package && !is_conda(environment) ? installed_version(f, environment, package) : NULL;

    return there && major > 0 && wc_version_of(there).major != major && failure->r.name[0] == '/' &&
           !wc_kind_is_ours(wc_name_kind_of(failure->r.name)) &&
           !wc_is_below(real_path(f, failure->r.name), environment, strlen(environment));
}

/* A part, or the facade, of another major than the one that is there, or of none. */
static void add_major(struct finding_of *f, const struct wc_failure *failure,
                      const char *environment, int32_t major) {
    const char *package = package_for(f, environment, wc_caller_of(f->s, failure));

    if (failure->r.name && is_of_others(f, failure, environment, package, major))
        return;
    if (!is_conda(environment))
        add_again(f, environment, package);
    if (major > 0)
        add_install(f, package, format(f, ">=%d,<%d", major, major + 1), environment);
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
        is_conda(environment))
        return;
    version = facade->version;
    version.build = -1;
    package = package_for(f, environment, facade);
    release = package ? wheel_newest(package, format(f, "==%s.*", wc_version_format(version, text)))
                      : NULL;
    if (release)
        add_two(f, install(package, format(f, "==%s", release), environment),
                with_directory(f, format(f, "%s/nvidia/cudnn/lib", environment)));
}

/* The wheel has the library under a name with a number alone: "libnvrtc.so.11.2" for "libnvrtc.so".
 */
static void add_install_linked(struct finding_of *f, struct edit e, const char *name) {
    char version[WC_VERSION_TEXT];
    struct wheel_list files = wheel_list(
        f->out->memory, e.name, wc_version_format(wheel_release(e.name, e.value), version));
    const struct wheel_file *file = WC_FIRST(
        one, files, wc_str_starts(wc_base_name(one->file), name) && wc_str_ends(name, ".so"));
    const char *path = file ? format(f, "%s/%s", e.environment, file->file) : NULL;
    struct edit linked = {.kind = EDIT_LINK};

    if (!path)
        return;
    linked.path = format(f, "%.*s/%s", (int)wc_dir_length(path), path, name);
    linked.target = wc_base_name(path);
    add_two(f, e, linked);
}

/* What NVIDIA's wheels have. */
static void add_wheel(struct finding_of *f, const char *site, const char *name, int32_t cuda) {
    const char *spec, *wheel = wheel_with(f->out->memory, name, cuda, &spec);

    if (wheel) {
        add_again(f, site, wheel);
        add_install(f, wheel, spec, site);
        add_install_linked(f, install(wheel, spec, site), name);
    }
}

/* Of the directories of one site those that lack nothing of what is asked for. */
static void add_missing(struct finding_of *f, const struct wc_failure *failure, const char *name,
                        const char *environment, const char **together) {
    const enum wc_name_kind kind = wc_name_kind_of(name);
    const int32_t cuda = wc_name_cuda(name), of_process = cuda_of_process(f, NULL);
    const char *there;

    if (wc_kind_is_cudnn(kind))
        add_major(f, failure, environment, wc_name_read(name).version.major);
    if (kind == WC_NAME_PART)
        add_parts(f, failure, environment);
    if (is_conda(environment)) {
        add_conda_owner(f, environment, name);
        return;
    }
    there = library_in(f, environment, name);
    if (there)
        add_site(f, environment);
    if (there) {
        const char *directory = directory_of(f, there);
        add_directory(f, there);
        if (!*together)
            *together = directory;
        else if (!strstr(*together, directory))
            *together = format(f, "%s:%s", *together, directory);
    }
    /* What a cuDNN for another CUDA than the process's asks for does not make it the right one. */
    if (kind == WC_NAME_CUDA_DEPENDENCY &&
        !(wc_asked_by_cudnn(f->s, failure) && cuda > 0 && of_process > 0 && cuda != of_process))
        add_wheel(f, environment, name, cuda_for(f, failure, name));
}

static void find_missing(struct finding_of *f) {
    const char *together = NULL;

    WC_EACH(failure, f->s->failures) {
        char dependency[512];
        const char *name = wc_failed_dependency(failure, dependency, sizeof(dependency))
                               ? format(f, "%s", dependency)
                               : failure->r.name;
        struct environments all;
        if (!name || wc_name_kind_of(name) == WC_NAME_OTHER)
            continue;
        add_owner(
            f, wc_is_asked_for(failure, wc_base_name(name)) ? failure->r.caller : failure->r.name,
            wc_base_name(name));
        all = environments_of(f, failure);
        for (size_t i = 0; i < all.n; i++)
            add_missing(f, failure, wc_base_name(name), all.p[i], &together);
    }
    if (together && strchr(together, ':'))
        add_one(f, in_front(f, together));
}

/* ---- functions that are missing ---- */

/* The release that a function came with, and those after it. */
static void add_function(struct finding_of *f, const struct wc_failure *failure,
                         const char *function) {
    const struct wc_version first = wc_function_first(wc_function_find(function));
    struct environments all;

    if (!wc_version_known(first))
        return;
    all = environments_of(f, failure);
    WC_EACH(o, f->s->objects)
        if (o->r.role == WC_role_FACADE)
            add_environment(&all, environment_of(f, wc_path_of(o)));
    for (size_t i = 0; i < all.n; i++)
        add_install(f, package_for(f, all.p[i], wc_caller_of(f->s, failure)),
                    format(f, ">=%s,<%d", short_version(f->out, first), first.major + 1), all.p[i]);
}

static void find_functions(struct finding_of *f) {
    WC_EACH(failure, f->s->failures) {
        struct wc_unmet unmet;
        if (failure->r.function)
            add_function(f, failure, failure->r.function);
        else if (wc_text_unmet(failure->r.text, &unmet) && unmet.symbol[0])
            add_function(f, failure, unmet.symbol);
    }
}

/* ---- files ---- */

/* The release that its own name has, else its package. That of a toolkit is CUDA's. */
static const char *release_of(struct finding_of *f, const struct wc_file_record *r) {
    const struct wc_version named = wc_name_read(r->real_path ? r->real_path : r->path).version;
    char text[WC_VERSION_TEXT];

    if (named.minor >= 0)
        return format(f, "%s", wc_version_format(named, text));
    return r->installation_kind == WC_installation_kind_CUDA_TOOLKIT ? NULL
                                                                     : r->installation_version;
}

/* What is not to be entered on the way to a file, behind all links, as the disk has it. NULL:
 * nothing. */
static const char *closed_on_way(struct finding_of *f, const char *path) {
    enum { LINKS_MOST = 8 };
    char at[PATH_MAX], target[PATH_MAX];
    bool is_link;

    for (int i = 0; i < LINKS_MOST; i++) {
        ssize_t n;
        if (!wc_closed_directory(&disk_files, path, at, sizeof(at), &is_link))
            return NULL;
        if (!is_link)
            return real_path(f, format(f, "%s", at));
        n = readlink(at, target, sizeof(target));
        if (n <= 0 || n == (ssize_t)sizeof(target))
            return NULL;
        path = target[0] == '/'
                   ? format(f, "%.*s%s", (int)n, target, path + strlen(at))
                   : format(f, "%s/%.*s%s", directory_of(f, at), (int)n, target, path + strlen(at));
    }
    return NULL;
}

/* The package whose list has the file: with it comes all that belongs there. */
static struct edit allow(struct finding_of *f, const struct wc_file_record *r, const char *path) {
    const struct wc_package *p = WC_FIRST(one, f->s->packages,
                                          one->r.package && one->r.installation_path &&
                                              wc_is_below(r->path, one->r.installation_path,
                                                          wc_str_length(one->r.installation_path)));
    const char *prefix = p ? prefix_of(f, &p->r) : NULL;
    struct edit e = prefix ? reinstall(&p->r, prefix) : (struct edit){.value = release_of(f, r)};

    e.kind = EDIT_MODE;
    e.path = path;
    return e;
}

static bool is_opened(struct finding_of *f, const char *directory) {
    for (size_t i = 0; i < f->out->n; i++)
        if (f->out->p[i].edit[0].kind == EDIT_MODE &&
            wc_str_same(f->out->p[i].edit[0].path, directory))
            return true;
    return false;
}

/* With all that was asked for behind the same directory. */
static void add_opening(struct finding_of *f, const struct wc_file_record *r) {
    const char *directory = closed_on_way(f, r->path), *paths = "", *way;
    struct edit e;

    if (!directory || is_opened(f, directory))
        return;
    for (size_t i = 0; i < 2; i++)
        WC_EACH(file, f->stacks[i]->files)
            if (file->r.fault == WC_file_fault_CLOSED && !strchr(file->r.path, ':') &&
                !strstr(paths, file->r.path) && (way = closed_on_way(f, file->r.path)) &&
                strcmp(way, directory) == 0)
                paths = format(f, "%s%s%s", paths, *paths ? ":" : "", file->r.path);
    e = allow(f, r, directory);
    e.target = paths;
    if (*paths)
        add_one(f, e);
}

static void find_files(struct finding_of *f) {
    WC_EACH(file, f->s->files) {
        const struct wc_file_record *r = &file->r;
        const char *path =
            r->real_path && r->fault != WC_file_fault_DANGLING ? r->real_path : r->path;
        if (r->fault == WC_file_fault_CLOSED && r->path)
            add_opening(f, r);
        else if (r->fault == WC_file_fault_UNREADABLE && r->path)
            add_one(f, allow(f, r, path));
        else if (r->fault != WC_file_fault_UNKNOWN && !r->installation && path)
            add_one(f, (struct edit){.kind = EDIT_DELETE, .path = path});
    }
}

struct beside {
    struct finding_of *f;
    const char *directory, *name;
};

/* Under such a name it would be taken for what it is not. What CUDA's libraries have behind the
 * major is no release: libcudart.so.11.0 is of 11.8. */
static bool is_of_other_release(const char *name, const char *file) {
    struct wc_version asked = wc_name_read(name).version;

    if (!wc_kind_is_cudnn(wc_name_kind_of(name)))
        asked.minor = asked.patch = asked.build = -1;
    return !wc_version_agree(asked, wc_name_read(wc_base_name(file)).version);
}

static bool is_any(void *found, const char *entry) {
    (void)entry;
    *(bool *)found = true;
    return false;
}

/* As `docker run -v FILE:FILE` makes one where the computer has no such file. */
static bool is_empty_directory(struct finding_of *f, const char *path) {
    bool found = false;

    if (!wc_is_directory(f->files, path))
        return false;
    f->files->list(f->files->ctx, path, is_any, &found);
    return !found;
}

/* A file that the loader refuses, and no package has put there: a link that was copied as its text.
 */
static bool is_nobodys(struct finding_of *f, const char *path) {
    for (size_t i = 0; i < 2; i++)
        if (WC_ANY(file, f->stacks[i]->files,
                   file->r.fault != WC_file_fault_UNKNOWN && !file->r.installation &&
                       wc_str_same(file->r.path, path) &&
                       (!file->r.real_path || wc_str_same(file->r.real_path, path))))
            return true;
    return false;
}

/* By a shorter name, which the next release has, too. */
static bool is_offered(struct beside *b, const char *link, const char *entry, const char *file) {
    const struct candidates *c = b->f->out;

    for (size_t i = 0; i < c->n; i++) {
        struct edit *e = &c->p[i].edit[0];
        if (e->kind != EDIT_LINK || !wc_str_same(e->path, link) ||
            !wc_str_same(real_path(b->f, format(b->f, "%s/%s", b->directory, e->target)), file))
            continue;
        if (strlen(entry) >= strlen(e->target))
            return true;
        e->target = entry;
    }
    return false;
}

/* "libcudnn.so.9.1.0" for "libcudnn.so.9", "libcudnn.so.9" for "libcudnn.so", and the other way
 * about. */
static bool is_beside(void *arg, const char *entry) {
    struct beside *b = arg;
    const char *stem = strstr(b->name, ".so");
    size_t n = stem ? (size_t)(stem - b->name) + 3 : 0;
    struct edit e = {.kind = EDIT_LINK};
    const char *file;

    if (!n || strncmp(entry, b->name, n) != 0 || (entry[n] && entry[n] != '.') ||
        strcmp(entry, b->name) == 0)
        return true;
    e.path = format(b->f, "%s/%s", b->directory, b->name);
    e.target = format(b->f, "%s", entry);
    file = real_path(b->f, format(b->f, "%s/%s", b->directory, entry));
    if (is_of_other_release(b->name, file) || is_offered(b, e.path, e.target, file))
        return true;
    add_one(b->f, e);
    if (is_empty_directory(b->f, e.path) || is_nobodys(b->f, e.path))
        add_two(b->f, (struct edit){.kind = EDIT_DELETE, .path = e.path}, e);
    add_two(b->f, e, with_directory(b->f, b->directory));
    if (!wc_str_ends(b->name, ".so")) { /* there may be more of them */
        const struct edit all = {.kind = EDIT_LINKS, .path = b->directory};
        add_one(b->f, all);
        add_two(b->f, all, with_directory(b->f, b->directory));
    }
    return true;
}

static void find_links_in(struct finding_of *f, const char *directory, const char *name) {
    struct beside b = {f, directory, name};

    if (directory && directory[0] == '/')
        f->files->list(f->files->ctx, directory, is_beside, &b);
}

struct turned {
    struct finding_of *f;
    const struct wc_object *o;
    const char *directory, *link;
};

static bool is_other_number(void *arg, const char *entry) {
    struct turned *t = arg;
    const struct wc_name name = wc_name_read(entry);
    const char *path = format(t->f, "%s/%s", t->directory, entry);

    if (name.kind == WC_NAME_FACADE && name.version.major >= 0 && name.version.minor < 0 &&
        name.version.major != wc_name_read(t->o->r.real_path).version.major)
        add_one(t->f, (struct edit){.kind = EDIT_LINK,
                                    .name = wc_base_name(t->o->r.path),
                                    .path = t->link,
                                    .target = path});
    return true;
}

/* The name without a number leads to one of several majors that lie there: Debian's alternatives.
 */
static void add_turned(struct finding_of *f, const struct wc_object *o) {
    char target[PATH_MAX];
    const ssize_t n = o->r.path ? readlink(o->r.path, target, sizeof(target)) : -1;
    struct turned t = {.f = f, .o = o, .directory = directory_of(f, o->r.path)};

    if (n <= 0 || n == (ssize_t)sizeof(target) || !o->r.real_path || !t.directory)
        return;
    t.link = format(f, "%.*s", (int)n, target);
    if (wc_str_starts(t.link, "/etc/alternatives/"))
        f->files->list(f->files->ctx, t.directory, is_other_number, &t);
}

/* A wheel has no name without a number, which is what was asked for. */
static void find_bare_names(struct finding_of *f) {
    WC_EACH(o, f->s->objects) {
        const char *name = wc_is_cudnn(o) && o->r.asked_name ? wc_base_name(o->r.asked_name) : NULL;
        if (!name || !wc_str_ends(name, ".so"))
            continue;
        add_turned(f, o);
        WC_EACH(p, f->s->packages)
            if (p->r.installation_path)
                find_links_in(f, format(f, "%s/lib", p->r.installation_path), name);
    }
}

/* Each directory in which the loader looked for it, as in "DT_RUNPATH /x/lib/". */
static void
find_in_searched(struct finding_of *f, const struct wc_failure *failure, const char *name,
                 void (*find)(struct finding_of *f, const char *directory, const char *name)) {
    const struct wc_searched *search = wc_search_in_vain(f->s, failure);

    if (search)
        WC_EACH(looked, search->r.searched) {
            const char *at = strstr(*looked, " /");
            const size_t n = at ? strlen(at + 1) : 0;
            if (n > 1)
                find(f, format(f, "%.*s", (int)(n - (at[n] == '/')), at + 1), name);
        }
}

static bool find_links_of_wheel(void *arg, const char *entry) {
    struct beside *b = arg;

    find_links_in(b->f, format(b->f, "%s/nvidia/%s/lib", b->directory, entry), b->name);
    return true;
}

/* A CUDA library is asked for without a number: beside cuDNN, and where others of CUDA come from,
 * it may stand with one. */
static void find_plain_names(struct finding_of *f, const struct wc_failure *failure,
                             const char *name) {
    struct environments all;

    if (wc_name_kind_of(name) != WC_NAME_CUDA_DEPENDENCY || !wc_str_ends(name, ".so"))
        return;
    WC_EACH(o, f->s->objects)
        if (o->r.mapped && (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY))
            find_links_in(f, real_path(f, directory_of(f, wc_path_of(o))), name);
    all = environments_of(f, failure);
    for (size_t i = 0; i < all.n; i++) {
        struct beside b = {f, all.p[i], name};
        f->files->list(f->files->ctx, format(f, "%s/nvidia", all.p[i]), find_links_of_wheel, &b);
    }
}

/* Where the loader looked, the very library may stand under another name. */
static void find_links(struct finding_of *f) {
    find_bare_names(f);
    WC_EACH(failure, f->s->failures) {
        char dependency[512];
        const char *name = wc_failed_dependency(failure, dependency, sizeof(dependency))
                               ? format(f, "%s", dependency)
                               : failure->r.name;
        if (!name || wc_name_kind_of(name) == WC_NAME_OTHER || wc_name_is_one_of_many(name) ||
            strchr(name, ' '))
            continue;
        if (name[0] == '/') { /* asked for by its path */
            find_links_in(f, directory_of(f, name), wc_base_name(name));
            continue;
        }
        find_in_searched(f, failure, name, find_links_in);
        find_plain_names(f, failure, name);
        WC_EACH(p, f->s->packages)
            if (p->r.installation_path)
                find_links_in(f, format(f, "%s/lib", p->r.installation_path), name);
        WC_EACH(file, f->s->files)
            if (file->r.request == failure->r.request)
                find_links_in(f, directory_of(f, file->r.path), name);
    }
}

/* ---- next to what is searched ---- */

static void add_neighbour(struct finding_of *f, const char *directory, const char *name) {
    struct wc_file_stat facts;

    if (f->files->facts(f->files->ctx, format(f, "%s/%s", directory, name), &facts))
        add_one(f, with_directory(f, directory));
}

static void add_neighbours(struct finding_of *f, const char *directory, const char *name) {
    const size_t above = wc_dir_above(directory, strlen(directory));

    add_neighbour(f, format(f, "%s/lib64", directory), name);
    add_neighbour(f, format(f, "%s/lib", directory), name);
    if (above > 1) {
        add_neighbour(f, format(f, "%.*s/lib64", (int)above, directory), name);
        add_neighbour(f, format(f, "%.*s/lib", (int)above, directory), name);
    }
}

/* An archive has "lib", a toolkit "lib64", and a folder that was copied lies in the other one. */
static void find_neighbours(struct finding_of *f) {
    WC_EACH(failure, f->s->failures) {
        const char *name = failure->r.name;
        if (!name || strchr(name, '/') || !wc_kind_is_cudnn(wc_name_kind_of(name)))
            continue;
        find_in_searched(f, failure, name, add_neighbours);
        WC_EACH(o, f->s->objects)
            if (o->r.role == WC_role_CUDA_DEPENDENCY && o->r.mapped && o->r.path)
                add_neighbours(f, directory_of(f, o->r.path), name);
    }
}

/* ---- order ---- */

/* The folder below site-packages, else the file. */
static const char *module_of(struct finding_of *f, const struct wc_object *host) {
    const char *path = wc_path_of(host), *environment = environment_of(f, path), *below;

    if (!path)
        return NULL;
    if (!environment || is_conda(environment))
        return wc_base_name(path);
    below = path + strlen(environment) + 1;
    if (!strchr(below, '/'))
        return below;
    below = format(f, "%.*s", (int)strcspn(below, "/"), below);
    return wc_str_ends(below, ".libs") /* beside what is imported */
               ? format(f, "%.*s", (int)(strlen(below) - strlen(".libs")), below)
               : below;
}

static void add_order(struct finding_of *f, const struct wc_object *first,
                      const struct wc_object *then) {
    const char *a = module_of(f, first), *b = module_of(f, then);

    if (a && b && strcmp(a, b) != 0)
        add_one(f, (struct edit){.kind = EDIT_IMPORT_FIRST, .name = a, .value = b});
}

static void find_orders(struct finding_of *f) {
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
    WC_EACH(o, f->s->objects) {
        const char *path = wc_path_of(o), *environment = environment_of(f, path);
        if (path && strstr(path, "/onnxruntime/") && environment && !is_conda(environment))
            add_one(f, (struct edit){.kind = EDIT_PRELOADER,
                                     .name = "onnxruntime",
                                     .value = "preload_dlls",
                                     .environment = environment});
    }
}

/* ---- all ---- */

static bool is_found(const struct outcome *o, const char *id) {
    return WC_ANY(f, o->findings, wc_str_same(f->id, id)) ||
           WC_ANY(f, o->of_end, wc_str_same(f->id, id));
}

void candidates_find(struct candidates *c, const struct replay *r, const struct outcome *base) {
    struct finding_of f = {.out = c,
                           .r = r,
                           .files = &r->library_cache.disk.files,
                           .stacks = {&base->source->stack, &r->source->stack},
                           .for_gpu = is_found(base, "gpu-unsupported"),
                           .for_release = is_found(base, "known-bad-release")};

    for (size_t i = 0; i < 2; i++) {
        f.s = f.stacks[i];
        f.path = wc_variable(f.stacks[0], "LD_LIBRARY_PATH");
        find_variables(&f);
        find_cleaned(&f);
        find_split(&f);
        find_expectations(&f);
        find_copies(&f);
        find_packages(&f);
        find_installs(&f);
        find_missing(&f);
        find_functions(&f);
        find_files(&f);
        find_links(&f);
        find_neighbours(&f);
        find_orders(&f);
    }
}

void candidates_end(struct candidates *c) {
    free(c->p);
}
