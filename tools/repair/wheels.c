/* SPDX-License-Identifier: Apache-2.0 */
#include "wheels.h"

#include <string.h>

#include "core/findings/finding.h"
#include "core/model/names.h"
#include "core/model/symbols.h"

static const struct {
    int32_t cuda;
    const char *first, *last;
} wheels[] = {
#define WHEEL(cuda, first, last) {cuda, first, last},
#include "core/findings/shared/wheels.def"
};

static const struct {
    const char *part, *package, *directory;
} dependencies[] = {
#define CUDA_DEPENDENCY_WHEEL(part, package, directory) {part, package, directory},
#include "core/findings/shared/wheels.def"
};

static const char cudnn_stem[] = "nvidia-cudnn-cu";

static bool is_cudnn(const char *package) {
    return strncmp(package, cudnn_stem, sizeof(cudnn_stem) - 1) == 0;
}

/* ---- releases ---- */

struct wc_version wheel_release(const char *package, const char *spec) {
    struct wc_version floor = WC_VERSION_NONE, pinned;
    struct wc_spec set;

    if (!wc_spec_read(spec, &set))
        return WC_VERSION_NONE;
    if (wc_spec_pins(spec, &pinned))
        return pinned;
    floor = wc_spec_floor(&set);
    WC_EACH_ROW(wheel, wheels) {
        struct wc_version known = wc_version_of(wheel->last[0] ? wheel->last : wheel->first);
        if (!is_cudnn(package) || wc_cuda_in_package(package) != wheel->cuda)
            continue;
        if (wc_spec_accepts(&set, known) == WC_YES)
            return known;
        if (!wc_version_known(floor) && wc_spec_accepts(&set, wc_version_of(wheel->first)))
            return wc_version_of(wheel->first);
    }
    return floor;
}

/* ---- cuDNN's libraries ---- */

static const char *const parts_of_8[] = {"ops_infer", "ops_train", "cnn_infer",
                                         "cnn_train", "adv_infer", "adv_train"};
static const struct {
    const char *part, *since;
} parts_of_9[] = {
    {"graph", "9.0.0"},
    {"ops", "9.0.0"},
    {"cnn", "9.0.0"},
    {"adv", "9.0.0"},
    {"engines_precompiled", "9.0.0"},
    {"engines_runtime_compiled", "9.0.0"},
    {"heuristic", "9.0.0"},
    {"engines_tensor_ir", "9.21.0"},
    {"ext", "9.21.0"},
};

struct list {
    struct wc_arena *memory;
    const char **p;
    size_t n;
};

static void add(struct list *l, const char *text) {
    const char **grown = wc_arena_take(l->memory, (l->n + 2) * sizeof(*grown));

    if (!grown)
        return;
    if (l->n)
        memcpy(grown, l->p, l->n * sizeof(*grown));
    grown[l->n++] = text;
    l->p = grown;
}

/* The names of a release's parts below a directory; "": as the facade of 9 has them. */
static void add_parts(struct list *l, struct wc_version release, const char *directory) {
    if (release.major == 8)
        WC_EACH_ROW(part, parts_of_8)
            add(l, wc_arena_format(l->memory, "%slibcudnn_%s.so.8", directory, *part));
    if (release.major == 9)
        WC_EACH_ROW(part, parts_of_9)
            if (wc_version_compare(release, wc_version_of(part->since)) >= 0)
                add(l, wc_arena_format(l->memory, "%slibcudnn_%s.so%s", directory, part->part,
                                       directory[0] ? ".9" : ""));
}

/* ---- wheels ---- */

static int32_t cuda_of(const char *package, struct wc_version release) {
    int32_t cuda = wc_cuda_in_package(package);

    return cuda > 0 ? cuda : release.major;
}

/* Up to CUDA 12 the name has the major at its end, since 13 it has none. */
static bool is_wheel(const char *package, const char *stem) {
    size_t n = strlen(stem);

    return strncmp(package, stem, n) == 0 &&
           (!package[n] || strcmp(package + n, "-cu11") == 0 || strcmp(package + n, "-cu12") == 0);
}

static const char *soname_of(struct wc_arena *memory, const char *part, int32_t cuda) {
    if (cuda == 11 && strcmp(part, "nvrtc") == 0)
        return wc_arena_format(memory, "lib%s.so.11.2", part);
    if (cuda == 11 && strcmp(part, "cudart") == 0)
        return wc_arena_format(memory, "lib%s.so.11.0", part);
    return wc_arena_format(memory, "lib%s.so.%d", part, cuda);
}

struct wheel_files wheel_files(struct wc_arena *memory, const char *package,
                               struct wc_version release) {
    static const char directory[] = "nvidia/cudnn/lib/";
    struct list l = {.memory = memory};
    const int32_t cuda = cuda_of(package, release);

    if (is_cudnn(package) && release.major > 0) {
        add(&l, wc_arena_format(memory, "%slibcudnn.so.%d", directory, release.major));
        add_parts(&l, release, directory);
    }
    WC_EACH_ROW(d, dependencies)
        if (is_wheel(package, d->package))
            add(&l, cuda < 13 ? wc_arena_format(memory, "nvidia/%s/lib/%s", d->directory,
                                                soname_of(memory, d->part, cuda))
                              : wc_arena_format(memory, "nvidia/cu%d/lib/%s", cuda,
                                                soname_of(memory, d->part, cuda)));
    return (struct wheel_files){l.p, l.n};
}

const char *wheel_requires(struct wc_arena *memory, const char *package) {
    int32_t cuda = wc_cuda_in_package(package);

    if (!is_cudnn(package) || cuda < 11)
        return NULL;
    return cuda < 13 ? wc_arena_format(memory, "nvidia-cublas-cu%d", cuda) : "nvidia-cublas";
}

const char *wheel_of_library(struct wc_arena *memory, const char *soname, const char **spec) {
    struct wc_name name = wc_name_read(soname);
    int32_t cuda = wc_name_cuda(soname);

    *spec = "";
    if (cuda < 11)
        return NULL;
    WC_EACH_ROW(d, dependencies) {
        if (strcmp(d->part, name.part) != 0)
            continue;
        if (cuda < 13)
            return wc_arena_format(memory, "%s-cu%d", d->package, cuda);
        *spec = wc_arena_format(memory, "==%d.*", cuda);
        return d->package;
    }
    return NULL;
}

/* ---- what a library says of itself ---- */

static void add_functions(struct list *l, struct wc_version release) {
    for (int f = 0; f < wc_function_count(); f++) {
        struct wc_version last = wc_function_last(f);
        if (wc_version_compare(wc_function_first(f), release) > 0)
            continue;
        if (wc_version_known(last) && !wc_version_agree(last, release) &&
            wc_version_compare(last, release) < 0)
            continue;
        add(l, wc_function_name(f));
    }
}

static const char parts_runpath[] = "$ORIGIN:$ORIGIN/../../cublas/lib:$ORIGIN/../../cuda_nvrtc/lib:"
                                    "$ORIGIN/../../cu13/lib";

bool wheel_image(struct wc_arena *memory, const char *file, struct wc_version release,
                 struct image *out) {
    struct wc_name name = wc_name_read(file);
    struct list functions = {.memory = memory}, constants = {.memory = memory};

    *out = (struct image){.soname = wc_base_name(file), .version = WC_VERSION_NONE};
    if (name.kind == WC_NAME_CUDA_DEPENDENCY)
        return true;
    if (!wc_kind_is_cudnn(name.kind) || release.major < 0)
        return false;
    if (release.patch < 0)
        release.patch = 0;
    if (release.minor < 0)
        release.minor = 0;
    out->version = release;
    out->soname = name.kind == WC_NAME_FACADE
                      ? wc_arena_format(memory, "libcudnn.so.%d", release.major)
                      : wc_arena_format(memory, "libcudnn_%s.so.%d", name.part, release.major);
    out->version_symbol = wc_arena_format(memory, "cudnn_%s_version",
                                          name.kind == WC_NAME_FACADE ? "facade" : name.part);
    out->runpath = name.kind == WC_NAME_FACADE ? "$ORIGIN" : parts_runpath;
    if (name.kind == WC_NAME_FACADE)
        add_functions(&functions, release);
    add_parts(&constants, release, "");
    out->functions = functions.p;
    out->constants = constants.p;
    return true;
}
