/* SPDX-License-Identifier: Apache-2.0 */
/* See core/model/frameworks.h. */
#include "frameworks.h"

static const struct {
    const char *framework, *stem;
} mains[] = {
#define MAIN_LIBRARY(framework, stem) {framework, stem},
#include "frameworks.def"
};

static const struct {
    const char *framework, *beside;
} gpu_libraries[] = {
#define GPU_LIBRARY(framework, beside) {framework, beside},
#include "frameworks.def"
};

static const struct {
    const char *framework, *package, *install;
} gpu_builds[] = {
#define GPU_BUILD(framework, package, install) {framework, package, install},
#include "frameworks.def"
};

const char *wc_framework_of(const char *path) {
    const char *name = path ? wc_base_name(path) : "";

    if (name[0] != 'l' && name[0] != 'o' && name[0] != 'x') /* asked of every object there is */
        return NULL;
    for (size_t i = 0; i < sizeof mains / sizeof *mains; i++)
        if (wc_str_starts(name, mains[i].stem) && name[wc_str_length(mains[i].stem)] == '.')
            return mains[i].framework;
    return NULL;
}

const char *wc_framework_gpu_library(const char *framework, size_t i) {
    for (size_t k = 0; k < sizeof gpu_libraries / sizeof *gpu_libraries; k++)
        if (wc_str_same(gpu_libraries[k].framework, framework) && i-- == 0)
            return gpu_libraries[k].beside;
    return NULL;
}

bool wc_framework_gpu_build(const char *framework, const char **package, const char **install) {
    for (size_t i = 0; i < sizeof gpu_builds / sizeof *gpu_builds; i++) {
        if (!wc_str_same(gpu_builds[i].framework, framework))
            continue;
        *package = gpu_builds[i].package;
        *install = gpu_builds[i].install;
        return true;
    }
    return false;
}

static const char *const openers[] = {
#define OPENS_CUDNN(stem) stem,
#include "frameworks.def"
};

bool wc_framework_opens_cudnn(const char *path) {
    const char *name = wc_base_name(path);

    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++)
        if (wc_str_starts(name, openers[i]) && name[wc_str_length(openers[i])] == '.')
            return true;
    return false;
}

static const struct {
    const char *folder, *file;
    bool if_missing;
} preloads[] = {
#define PRELOAD(folder, file) {folder, file, false},
#define PRELOAD_IF_MISSING(folder, file) {folder, file, true},
#include "frameworks.def"
};

const char *wc_framework_preload(const char *folder, size_t length, bool if_missing, size_t i) {
    for (size_t k = 0; k < sizeof preloads / sizeof *preloads; k++)
        if (preloads[k].if_missing == if_missing && wc_str_length(preloads[k].folder) == length &&
            wc_mem_compare(preloads[k].folder, folder, length) == 0 && i-- == 0)
            return preloads[k].file;
    return NULL;
}
