/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/findings/finding.h"
#include "core/model/symbols.h"
#include "core/packages/identify.h"
#include "core/search/loader_words.h"
#include "wheel_table.h"

enum { DIRECTORIES_MOST = 4, SPECS_MOST = 4, CUDAS_MOST = 2 };

struct finding_places {
    struct candidates *out;
    const struct wc_stack *s;
    const struct wc_files *files;
    const char *directory[DIRECTORIES_MOST];
    size_t directories;
    const char *spec[SPECS_MOST]; /* sets of releases that might do */
    size_t specs;
    const char *cuda[CUDAS_MOST]; /* its major; NULL: not known */
    size_t cudas;
    bool for_gpu; /* the GPU may be what is wrong */
};

#define format(f, ...) wc_arena_format((f)->out->memory, __VA_ARGS__)

static size_t add_text(const char **list, size_t n, size_t most, const char *text) {
    for (size_t i = 0; i < n; i++)
        if (wc_str_same(list[i], text))
            return n;
    if (n < most)
        list[n++] = text;
    return n;
}

/* ---- which directories ---- */

static bool is_managed(enum wc_installation_kind kind) {
    return kind == WC_installation_kind_WHEEL || kind == WC_installation_kind_CONDA ||
           kind == WC_installation_kind_DEBIAN || kind == WC_installation_kind_RPM ||
           kind ==
               WC_installation_kind_CONTAINER_MOUNT; /* what is inside cannot be changed there */
}

static bool is_of_system(const char *directory) {
    return wc_str_starts(directory, "/lib") || wc_str_starts(directory, "/usr/lib");
}

static bool is_of_python(const char *file) {
    static const char end[] = "-packages";
    const size_t n = wc_environment_length(file), length = sizeof(end) - 1;

    return n >= length && strncmp(file + n - length, end, length) == 0;
}

struct seeking {
    bool (*fits)(const char *name);
    bool found;
};

static bool seek(void *seeking, const char *name) {
    struct seeking *s = seeking;

    s->found = s->fits(name);
    return !s->found;
}

static bool has_file(struct finding_places *f, const char *directory,
                     bool (*fits)(const char *name)) {
    struct seeking s = {.fits = fits};

    f->files->list(f->files->ctx, directory, seek, &s);
    return s.found;
}

static bool is_libpython(const char *name) {
    return wc_str_starts(name, "libpython");
}

/* What an interpreter finds by itself is its own. */
static bool is_of_interpreter(struct finding_places *f, const char *directory) {
    return has_file(f, directory, is_libpython);
}

static bool is_conda(struct finding_places *f, const char *directory) {
    struct wc_file_stat facts;

    for (size_t n = strlen(directory); n > 1; n = wc_dir_above(directory, n))
        if (f->files->facts(f->files->ctx, format(f, "%.*s/conda-meta", (int)n, directory), &facts))
            return true;
    return false;
}

static void add_directory(struct finding_places *f, const char *file) {
    const size_t n = file && file[0] == '/' ? wc_dir_length(file) : 0;
    const char *directory = n > 1 ? format(f, "%.*s", (int)n, file) : NULL;
    struct wc_file_stat facts;

    if (directory && !is_of_python(file) && !is_conda(f, directory) &&
        !is_of_interpreter(f, directory) && f->files->facts(f->files->ctx, directory, &facts))
        f->directories = add_text(f->directory, f->directories, DIRECTORIES_MOST, directory);
}

/* "DT_RUNPATH /opt/cudnn/lib" */
static void add_searched(struct finding_places *f, const char *searched) {
    const char *at = strstr(searched, " /");
    size_t n = at ? strlen(at + 1) : 0;

    while (n > 1 && at[n] == '/')
        n--;
    if (n > 1 && !is_of_system(at + 1))
        add_directory(f, format(f, "%.*s/", (int)n, at + 1));
}

static bool is_ours(const char *name) {
    return name && wc_kind_is_ours(wc_name_kind_of(name));
}

static const char *missing_of(struct finding_places *f, const struct wc_failure *failure) {
    char dependency[512];

    return wc_failed_dependency(failure, dependency, sizeof(dependency))
               ? format(f, "%s", dependency)
               : failure->r.name;
}

static void find_directories(struct finding_places *f) {
    WC_EACH(o, f->s->objects) /* a link may lead to another library than its name says */
        if (wc_is_cudnn(o) && !is_managed(o->r.installation_kind))
            add_directory(f, is_ours(o->r.real_path) ? o->r.real_path : o->r.path);
    WC_EACH(file, f->s->files)
        if (is_ours(file->r.path) && !is_managed(file->r.installation_kind))
            add_directory(f, file->r.path);
    WC_EACH(failure, f->s->failures) {
        const struct wc_searched *search = wc_search_in_vain(f->s, failure);
        if (is_ours(failure->r.name) && failure->r.name[0] == '/')
            add_directory(f, failure->r.name);
        if (search && is_ours(search->r.name))
            WC_EACH(searched, search->r.searched)
                add_searched(f, *searched);
    }
}

/* ---- which releases ---- */

struct range { /* low <= release < high; each may be unknown */
    struct wc_version low, high;
};

static struct wc_version after(struct wc_version v) {
    if (v.patch >= 0)
        v.patch++;
    else if (v.minor >= 0)
        v.minor++;
    else
        v.major++;
    v.build = -1;
    return v;
}

static void raise(struct range *r, struct wc_version low) {
    if (!wc_version_known(r->low) || wc_version_compare(low, r->low) > 0)
        r->low = low;
}

static void lower(struct range *r, struct wc_version high) {
    if (!wc_version_known(r->high) || wc_version_compare(high, r->high) < 0)
        r->high = high;
}

/* What a set lets in, from its least to its greatest; single releases that it leaves out count as
 * in. */
static void narrow(struct range *r, const struct wc_spec *spec) {
    for (size_t i = 0; i < spec->n; i++) {
        struct wc_version v = spec->clause[i].version, high = v;
        v.build = -1;
        switch (spec->clause[i].op) {
        case WC_GT:
            raise(r, after(v));
            break;
        case WC_LT:
            lower(r, v);
            break;
        case WC_LE:
            lower(r, after(v));
            break;
        case WC_COMPATIBLE:
            raise(r, v);
            if (high.patch < 0)
                high.minor = -1;
            high.patch = -1;
            lower(r, after(high));
            break;
        case WC_EQ:
        case WC_EQ_PREFIX:
            raise(r, v);
            lower(r, after(v));
            break;
        case WC_GE:
            raise(r, v);
            break;
        default:
            break;
        }
    }
}

static bool is_empty(const struct range *r) {
    return wc_version_known(r->low) && wc_version_known(r->high) &&
           wc_version_compare(r->low, r->high) >= 0;
}

static void add_range(struct finding_places *f, struct range r) {
    char low[WC_VERSION_TEXT], high[WC_VERSION_TEXT];

    if (is_empty(&r) || !wc_version_known(r.low))
        return;
    wc_version_format(r.low, low);
    wc_version_format(r.high, high);
    f->specs = add_text(f->spec, f->specs, SPECS_MOST,
                        wc_version_known(r.high) ? format(f, ">=%s,<%s", low, high)
                                                 : format(f, ">=%s", low));
}

/* All that is wanted in one set: whichever release of it somebody takes must do. What has nothing
 * in common with the others is a set of its own. */
static void add_spec(struct finding_places *f, struct range *all, const char *spec) {
    struct range both = *all, alone = {WC_VERSION_NONE, WC_VERSION_NONE};
    struct wc_spec read;

    if (!spec || !wc_spec_read(spec, &read))
        return;
    narrow(&both, &read);
    narrow(&alone, &read);
    if (is_empty(&both))
        add_range(f, alone);
    else
        *all = both;
}

static void add_major(struct finding_places *f, struct range *all, struct wc_version from) {
    char text[WC_VERSION_TEXT];

    from.build = -1;
    if (wc_version_known(from))
        add_spec(f, all, format(f, ">=%s,<%d", wc_version_format(from, text), from.major + 1));
}

static void add_from(struct finding_places *f, struct range *all, struct wc_version from) {
    char text[WC_VERSION_TEXT];

    if (wc_version_known(from))
        add_spec(f, all, format(f, ">=%s", wc_version_format(from, text)));
}

/* A part of another major is asked for by a host that was made for that one. */
static void add_asked(struct finding_places *f, struct range *all, const char *name) {
    struct wc_name asked = wc_name_read(name ? wc_base_name(name) : "");

    if (asked.kind == WC_NAME_FACADE)
        add_major(f, all, asked.version);
}

/* What was compiled with the header that is there may want no other release. */
static void narrowed_to_header(struct range *all, const struct wc_object *o) {
    const struct wc_version header =
        o->r.header_version ? wc_version_of(o->r.header_version) : WC_VERSION_NONE;
    struct range both = *all;

    if (!wc_version_known(header))
        return;
    raise(&both, header);
    lower(&both, after(header));
    if (!is_empty(&both))
        *all = both;
}

/* Releases of the set that have code for the GPUs. */
static void add_gpu_ranges(struct finding_places *f, struct range all) {
    struct wc_version first, end;

    for (size_t i = 0; candidates_gpu_releases(f->s, i, &first, &end); i++) {
        struct range both = all;
        raise(&both, first);
        if (wc_version_known(end))
            lower(&both, end);
        add_range(f, both);
    }
}

static void find_specs(struct finding_places *f) {
    struct range all = {WC_VERSION_NONE, WC_VERSION_NONE};
    struct wc_hosts hosts = {.n = 0};

    WC_EACH(host, f->s->objects)
        if (wc_wants_cudnn(host) && hosts.n < 16)
            hosts.p[hosts.n++] = host;
    add_spec(f, &all, candidates_common(f->out, f->s, &hosts));
    WC_EACH(d, f->s->demands) /* a host that did not come in counts as none yet */
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION ||
            d->r.demand_kind == WC_demand_kind_REQUIRED ||
            !wc_object_of(f->s, d->r.host, d->r.host_path))
            add_spec(f, &all, d->r.spec);
    WC_EACH(d, f->s->demands)
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION && !d->r.spec)
            add_major(f, &all, wc_version_of(d->r.built));
    WC_EACH(failure, f->s->failures) {
        const int function = failure->r.function ? wc_function_find(failure->r.function) : -1;
        if (function >= 0)
            add_from(f, &all, wc_function_first(function));
        add_asked(f, &all, failure->r.name);
        add_asked(f, &all, missing_of(f, failure));
    }
    WC_EACH(file, f->s->files)
        if (file->r.fault != WC_file_fault_UNKNOWN)
            add_asked(f, &all, file->r.path);
    WC_EACH(o, f->s->objects) {
        add_asked(f, &all, o->r.asked_name);
        narrowed_to_header(&all, o);
    }
    if (f->for_gpu)
        add_gpu_ranges(f, all);
    else
        add_range(f, all);
}

/* ---- for which CUDA ---- */

static void add_cuda(struct finding_places *f, int32_t cuda) {
    if (cuda > 0)
        f->cudas = add_text(f->cuda, f->cudas, CUDAS_MOST, format(f, "%d", cuda));
}

static void find_cudas(struct finding_places *f) {
    WC_EACH(host, f->s->objects)
        if (wc_wants_cudnn(host))
            add_cuda(f, wc_cuda_of_host(f->s, host).major);
    add_cuda(f, wc_cuda_of_dependencies(f->s));
    if (f->cudas == 0)
        f->cuda[f->cudas++] = NULL;
}

static const struct {
    const char *release;
    bool has[3]; /* for CUDA 11 and the next two */
} releases[] = {
#define CUDNN_RELEASE(release, cu11, cu12, cu13) {release, {cu11, cu12, cu13}},
#include "core/packages/wheel_files.def"
};

/* Of one CUDA no more come out when there is a newer one: 9.10.2 was the last for 11. */
static bool is_past_last(const struct wc_spec *set, long column) {
    struct wc_version last = WC_VERSION_NONE, newest = WC_VERSION_NONE;

    WC_EACH_ROW(row, releases) {
        newest = wc_version_of(row->release);
        last = column >= 0 && column < 3 && row->has[column] ? newest : last;
    }
    return wc_version_known(last) && wc_version_compare(last, newest) < 0 &&
           wc_version_compare(wc_spec_floor(set), last) > 0;
}

/* Without the releases that were not made for that CUDA yet. */
static const char *spec_for(struct finding_places *f, const char *spec, const char *cuda) {
    struct wc_version first = WC_VERSION_NONE;
    struct wc_spec set;
    char text[WC_VERSION_TEXT];
    const char *end = strchr(spec, ',');
    const long column = cuda ? strtol(cuda, NULL, 10) - 11 : -1; /* archives for 11 are older */

    WC_EACH_ROW(row, releases)
        if (column > 0 && column < 3 && row->has[column] && !wc_version_known(first))
            first = wc_version_of(row->release);
    if (column == 0 && wc_spec_read(spec, &set) && wc_spec_floor(&set).major < 8)
        first = wc_version_of("8.0.1"); /* no cuDNN before 8 came out for CUDA 11 */
    first.build = -1;
    if (wc_spec_read(spec, &set) && is_past_last(&set, column))
        return NULL;
    if (!wc_version_known(first) || !wc_spec_read(spec, &set) ||
        wc_version_compare(wc_spec_floor(&set), first) >= 0)
        return spec;
    spec = format(f, ">=%s%s", wc_version_format(first, text), end ? end : "");
    return wc_spec_read(spec, &set) && wc_spec_accepts(&set, first) == WC_YES ? spec : NULL;
}

/* Of cuDNN before the wheels (NVIDIA's cuDNN archive). */
static const char *const last_releases[] = {"4.0.7", "5.1.10", "6.0.21", "7.6.5"};

/* Where the name alone says what is wanted, which release of its major it was built with is not
 * known: the newest takes the place of all before it. */
static const char *newest_of(struct finding_places *f, const char *spec, const char *cuda) {
    const char *end = strchr(spec, ','), *newest;
    struct wc_version floor, last;
    struct wc_spec set;
    char text[WC_VERSION_TEXT];

    floor = wc_spec_read(spec, &set) ? wc_spec_floor(&set) : WC_VERSION_NONE;
    if (!wc_version_known(floor) || floor.minor >= 0)
        return spec;
    newest = wheel_newest(format(f, "nvidia-cudnn-cu%s", cuda ? cuda : "12"), spec);
    WC_EACH_ROW(row, last_releases)
        if (wc_version_of(*row).major == floor.major)
            newest = *row;
    last = newest ? wc_version_of(newest) : WC_VERSION_NONE;
    last.build = -1;
    return wc_version_known(last)
               ? format(f, ">=%s%s", wc_version_format(last, text), end ? end : "")
               : spec;
}

/* ---- candidates ---- */

static void add_one(struct finding_places *f, struct edit edit) {
    candidates_add(f->out, &(struct candidate){{edit}, 1});
}

struct names {
    struct wc_version release; /* that all names with a whole one have */
    bool differ;
};

static bool read_name(void *arg, const char *entry) {
    struct names *n = arg;
    const struct wc_name name = wc_name_read(entry);

    if (!wc_kind_is_cudnn(name.kind) || name.version.patch < 0)
        return true;
    n->differ = wc_version_known(n->release) && wc_version_compare(n->release, name.version) != 0;
    n->release = name.version;
    return !n->differ;
}

/* As an archive has it: "libcudnn_graph.so.9.8.0". */
static const char *release_by_names(struct finding_places *f, const char *directory) {
    struct names n = {.release = WC_VERSION_NONE};
    char text[WC_VERSION_TEXT];

    f->files->list(f->files->ctx, directory, read_name, &n);
    return wc_version_known(n.release) && !n.differ
               ? format(f, "==%s", wc_version_format(n.release, text))
               : NULL;
}

/* What the libraries of that directory are, as far as any of them says. */
static const char *release_in(struct finding_places *f, const char *directory) {
    WC_EACH(o, f->s->objects) {
        struct wc_version v = wc_own_range(o).low;
        char text[WC_VERSION_TEXT];
        if (!wc_kind_is_cudnn(wc_name_kind_of(o->r.soname)) || !wc_own_range(o).exact ||
            !(wc_lies_in(wc_real_path_of(o), directory, strlen(directory)) ||
              wc_lies_in(wc_path_of(o), directory, strlen(directory))))
            continue;
        v.build = -1;
        return format(f, "==%s", wc_version_format(v, text));
    }
    return release_by_names(f, directory);
}

/* Then it is the same once more that is wanted, of whatever release it was. */
static bool has_damaged(struct finding_places *f, const char *directory) {
    return WC_ANY(file, f->s->files,
                  file->r.fault != WC_file_fault_UNKNOWN && is_ours(file->r.path) &&
                      wc_lies_in(file->r.path, directory, strlen(directory)));
}

enum { CUDA_NONE = -1, CUDA_SEVERAL = 0 };

static bool read_cuda(void *cuda, const char *entry) {
    const int32_t is =
        wc_name_kind_of(entry) == WC_NAME_CUDA_DEPENDENCY ? wc_name_cuda(entry) : CUDA_NONE;
    int32_t *all = cuda;

    if (is > 0)
        *all = *all == CUDA_NONE || *all == is ? is : CUDA_SEVERAL;
    return *all != CUDA_SEVERAL;
}

/* Where nothing in the process says which CUDA it is for, the directory may, "cuda-12.4/lib64", or
 * what lies in those that are searched. */
static const char *cuda_for(struct finding_places *f, size_t i, const char *directory) {
    int32_t cuda = f->cuda[i] ? CUDA_NONE : wc_cuda_in_package(directory);

    if (f->cuda[i] == NULL && cuda <= 0) {
        cuda = CUDA_NONE;
        for (size_t k = 0; k < f->directories; k++)
            f->files->list(f->files->ctx, f->directory[k], read_cuda, &cuda);
    }
    return cuda > 0 ? format(f, "%d", cuda) : f->cuda[i];
}

static bool is_of_cudnn(const char *name) {
    return wc_kind_is_cudnn(wc_name_kind_of(name));
}

/* Where there is one, it is that one which is put in order: two that are searched get mixed. */
static bool is_second(struct finding_places *f, const char *directory) {
    bool other = false;

    if (has_file(f, directory, is_of_cudnn))
        return false;
    for (size_t i = 0; i < f->directories; i++)
        other = other || has_file(f, f->directory[i], is_of_cudnn);
    return other;
}

static void add_releases(struct finding_places *f, const char *directory) {
    const char *there = release_in(f, directory);
    const enum edit_kind kind = !there && has_damaged(f, directory) ? EDIT_RESTORE : EDIT_PLACE;

    for (size_t i = 0; i < f->cudas; i++) {
        const char *cuda = cuda_for(f, i, directory);
        if (there)
            add_one(f, (struct edit){.kind = EDIT_RESTORE,
                                     .name = "cudnn",
                                     .value = there,
                                     .path = directory,
                                     .target = cuda});
        for (size_t k = 0; k < f->specs; k++) {
            const char *spec = spec_for(f, newest_of(f, f->spec[k], cuda), cuda);
            if (spec)
                add_one(f, (struct edit){.kind = kind,
                                         .name = "cudnn",
                                         .value = spec,
                                         .path = directory,
                                         .target = cuda});
        }
    }
}

/* A directory of CUDA's libraries, and of which CUDA. */
struct toolkit {
    const char *directory;
    int32_t cuda;
};

static struct toolkit toolkit_in(struct finding_places *f, const char *directory) {
    char real[PATH_MAX];
    struct toolkit t = {.cuda = CUDA_NONE};

    if (!directory || !f->files->real_path(f->files->ctx, directory, real, sizeof(real)))
        return t;
    t.directory = format(f, "%s", real);
    f->files->list(f->files->ctx, t.directory, read_cuda, &t.cuda);
    if (t.cuda == CUDA_SEVERAL)
        t.cuda = wc_cuda_in_package(t.directory);
    return t;
}

static bool is_toolkit(const struct toolkit *t) {
    return t->cuda > 0 && !is_of_system(t->directory);
}

/* What the process has of CUDA, else what its variables name, else the one where NVIDIA's packages
 * put it. */
static struct toolkit toolkit_of(struct finding_places *f) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    const struct wc_object *o =
        WC_FIRST(one, f->s->objects,
                 one->r.role == WC_role_CUDA_DEPENDENCY && !is_managed(one->r.installation_kind) &&
                     wc_cuda_of(one) > 0 && wc_path_of(one) && wc_path_of(one)[0] == '/' &&
                     !is_of_system(wc_path_of(one)));
    struct toolkit t = {.cuda = CUDA_NONE};

    if (o)
        return (struct toolkit){format(f, "%.*s", (int)wc_dir_length(wc_path_of(o)), wc_path_of(o)),
                                wc_cuda_of(o)};
    if (WC_ANY(one, f->s->objects, one->r.role == WC_role_CUDA_DEPENDENCY))
        return t; /* a wheel's, conda's: what goes with it is theirs, too */
    WC_EACH_ROW(name, variables) {
        const char *home = wc_variable(f->s, *name);
        if (home && home[0] == '/' && !is_toolkit(&t))
            t = toolkit_in(f, format(f, "%s/lib64", home));
    }
    return is_toolkit(&t) ? t : toolkit_in(f, "/usr/local/cuda/lib64");
}

struct having {
    int32_t major;
    bool found;
};

static bool is_of_major(void *having, const char *entry) {
    struct having *h = having;
    const struct wc_name name = wc_name_read(entry);

    h->found = wc_kind_is_cudnn(name.kind) && name.version.major == h->major;
    return !h->found;
}

/* Those of several majors may lie beside one another; of one major the one that is there is put in
 * order. */
static bool has_major_of(struct finding_places *f, const char *directory, const char *spec) {
    struct wc_spec set;
    struct having h = {.major = wc_spec_read(spec, &set) ? wc_spec_floor(&set).major : -1};

    f->files->list(f->files->ctx, directory, is_of_major, &h);
    for (size_t i = 0; i < f->directories && !h.found; i++)
        f->files->list(f->files->ctx, f->directory[i], is_of_major, &h);
    return h.found;
}

/* A toolkit without such a cuDNN, which the loader's cache leads to. What is put there gets into
 * the cache by ldconfig, which no replay runs: the variable leads there, too. */
static void add_beside_cuda(struct finding_places *f) {
    const char *path = wc_variable(f->s, "LD_LIBRARY_PATH");
    const struct toolkit t = toolkit_of(f);

    if (!is_toolkit(&t) || WC_ANY(one, f->s->objects, wc_is_cudnn(one)))
        return;
    for (size_t k = 0; k < f->specs; k++) {
        const char *cuda = format(f, "%d", (int)t.cuda);
        const char *spec = spec_for(f, newest_of(f, f->spec[k], cuda), cuda);
        const struct edit place = {.kind = EDIT_PLACE,
                                   .name = "cudnn",
                                   .value = spec,
                                   .path = t.directory,
                                   .target = cuda};
        const struct edit set = {.kind = EDIT_SET,
                                 .name = "LD_LIBRARY_PATH",
                                 .value = candidates_path_with(f->out->memory, path, t.directory)};
        if (spec && !has_major_of(f, t.directory, spec))
            candidates_add(f->out, &(struct candidate){{place, set}, 2});
    }
}

/* What a cuDNN for another CUDA asks for does not make it the right one. */
static bool is_for_other_cuda(struct finding_places *f, const struct wc_failure *failure,
                              const char *name) {
    const int32_t cuda = wc_name_cuda(name);

    for (size_t i = 0; i < f->cudas; i++)
        if (!f->cuda[i] || strtol(f->cuda[i], NULL, 10) == cuda)
            return false;
    return cuda > 0 && wc_asked_by_cudnn(f->s, failure);
}

struct siblings {
    const char *name;
    bool found;
};

static bool is_sibling(void *siblings, const char *entry) {
    struct siblings *s = siblings;

    s->found = wc_name_kind_of(entry) == WC_NAME_CUDA_DEPENDENCY &&
               wc_name_cuda(entry) == wc_name_cuda(s->name) && strcmp(entry, s->name) != 0;
    return !s->found;
}

/* Where no other library of that CUDA is searched, the next one would be missing then. */
static bool has_siblings(struct finding_places *f, const char *name) {
    struct siblings s = {name, false};

    for (size_t i = 0; i < f->directories && !s.found; i++)
        f->files->list(f->files->ctx, f->directory[i], is_sibling, &s);
    return s.found;
}

static void add_missing(struct finding_places *f, const char *directory) {
    WC_EACH(failure, f->s->failures) {
        const char *name = missing_of(f, failure);
        /* Without a number it is a link, which find_links() has. */
        if (name && wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && !wc_str_ends(name, ".so") &&
            !is_for_other_cuda(f, failure, wc_base_name(name)) &&
            has_siblings(f, wc_base_name(name)))
            add_one(f, (struct edit){.kind = EDIT_PLACE,
                                     .name = format(f, "%s", wc_base_name(name)),
                                     .path = directory});
    }
}

static void add_preload(struct finding_places *f, const char *path, const char *old) {
    if (path && path[0] == '/' && !strpbrk(path, ": "))
        add_one(f, (struct edit){.kind = EDIT_SET,
                                 .name = "LD_PRELOAD",
                                 .value = old && *old ? format(f, "%s:%s", path, old)
                                                      : format(f, "%s", path)});
}

/* What is there at the start gets all the thread-local room that it wants, and all see its
 * functions. */
static void find_preloads(struct finding_places *f, const char *old) {
    struct wc_unmet unmet;
    char path[512];

    WC_EACH(failure, f->s->failures) {
        if (wc_text_system(failure->r.text, path, sizeof(path)) == WC_SYSTEM_STATIC_TLS)
            add_preload(f, path, old);
        if (wc_is_load(failure) && wc_text_unmet(failure->r.text, &unmet) && !unmet.version[0] &&
            wc_function_find(unmet.symbol) != WC_NO_FUNCTION)
            WC_EACH(o, f->s->objects) /* not another library under its name */
                if (o->r.role == WC_role_FACADE && o->r.mapped &&
                    wc_kind_is_cudnn(wc_name_kind_of(o->r.soname)))
                    add_preload(f, wc_real_path_of(o), old);
    }
}

void places_find(struct candidates *c, const struct wc_stack *s, const struct wc_files *files,
                 const char *preload, bool for_gpu) {
    struct finding_places f = {.out = c, .s = s, .files = files, .for_gpu = for_gpu};

    find_directories(&f);
    find_specs(&f);
    find_cudas(&f);
    for (size_t i = 0; i < f.directories; i++) {
        if (!is_second(&f, f.directory[i]))
            add_releases(&f, f.directory[i]);
        add_missing(&f, f.directory[i]);
    }
    add_beside_cuda(&f);
    find_preloads(&f, preload);
}
