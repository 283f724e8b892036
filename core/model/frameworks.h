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
/* Does a library of that name open libcudnn.so.N by itself, without a symbol that shows it? */
bool wc_framework_opens_cudnn(const char *path);
/* What a Python package opens before its own libraries. Paths are from site-packages. */
struct wc_framework_file {
    const char *folder; /* of the package */
    const char *by;     /* the folder of another one, which opens it; NULL: the package itself */
    const char *file;   /* '*' as in a shell */
    bool if_missing;    /* only where one of its own libraries could not be loaded */
    bool all;           /* each such file; else the first one */
};
/* The i-th of the package in this folder (length bytes); NULL past the last. */
const struct wc_framework_file *wc_framework_preload(const char *folder, size_t length,
                                                     bool if_missing, size_t i);
