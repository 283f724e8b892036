/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which framework a library is the main one of, and what its builds for CUDA have beside it.
 */
#pragma once

#include "core/base/base.h"

/* By the last element of a path; NULL: none. A literal. */
const char *wc_framework_of(const char *path);
/* The i-th file that tells a build for CUDA, from the main library's directory; "": the main
 * library itself, by cuDNN's functions; NULL past the last. */
const char *wc_framework_gpu_library(const char *framework, size_t i);
/* Does the library of that path open libcudnn.so.N by itself, without a symbol that shows it? */
bool wc_framework_opens_cudnn(const char *path);
/* What a Python package opens before its own libraries. Paths are from site-packages. */
struct wc_framework_file {
    const char *folder; /* of the package */
    const char *by;     /* the folder of another one, which opens it; NULL: the package itself */
    const char *file;   /* '*' and {,} as in a shell; a name alone is for the loader to find */
    unsigned how;       /* wc_framework_how */
};
enum wc_framework_how {
    WC_FRAMEWORK_FILE_IF_MISSING = 1,   /* where one of its own libraries could not be loaded */
    WC_FRAMEWORK_FILE_ALL = 2,          /* each such file; else the first one */
    WC_FRAMEWORK_FILE_ON_PATH = 4,      /* in a directory of LD_LIBRARY_PATH, by its path */
    WC_FRAMEWORK_FILE_OTHERWISE = 8,    /* where no row of the package before it opened one */
    WC_FRAMEWORK_FILE_IF_REQUIRED = 16, /* where the package requires one of cuDNN's */
};
/* The i-th of the package in this folder (length bytes); NULL past the last. */
const struct wc_framework_file *wc_framework_preload(const char *folder, size_t length,
                                                     bool if_missing, size_t i);
