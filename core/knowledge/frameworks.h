/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a framework that uses cuDNN: a row of core/knowledge/frameworks.def.
 */
#pragma once

#include "whichcudnn/record.h"

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

/* A list ends with NULL, lists of rows with a row whose first field is NULL. NULL: nothing is
 * known. */
struct wc_framework {
    const char *name;

    /* ---- its packages ---- */
    const char *const *distributions; /* on PyPI, normalised; '*' at the end: whatever begins so */
    const char *const *conda;         /* how the names of conda's records begin */
    /* The least version that its metadata require is the one it was compiled with. */
    bool floor_is_built;
    const struct wc_framework_related {
        const char *distribution, *other; /* whose metadata have the requirement */
    } * related;
    /* Top-level directories of site-packages whose name begins otherwise than that of the
     * distribution. From the wheels' top_level.txt and RECORD. */
    const struct wc_framework_folder {
        const char *folder, *distribution; /* normalised; how it begins */
    } * folders;
    /* Directories with copies of its own, also without a distribution around them (libtorch's
     * archive, an unpacked wheel). */
    const struct wc_framework_copies {
        const char *within, *installation;
        /* They have their SONAMEs: a search by name may be led there, and a wheel that requires
         * no cuDNN was built with the one there. */
        bool by_soname;
    } * copies;
    /* Files in which the version it was built with stands, on the line of the marker, as the first
     * number behind it. Marker NULL: the header that it was compiled with. */
    const struct wc_framework_version_file { const char *path, *marker; } * version_files;

    /* ---- its libraries ---- */
    /* Of which each build has one: its name begins so, up to a dot. */
    const char *const *mains;
    /* Files that only builds for CUDA have, from the directory of the main library; "" where
     * cuDNN's functions, or stubs of them, are in the main library itself. */
    const char *const *gpu_libraries;
    /* The wheel of the build for the processor that is put over the one for CUDA. */
    const char *put_over;
    /* Libraries whose names begin so, in any folder or in this one, that open libcudnn.so.N by that
     * name, N being the major that they were built for, or use what their package has opened;
     * nothing in their symbols shows that. Those that export stubs show it. */
    const char *const *openers;
    const struct wc_framework_file *preloads;

    const struct wc_framework_rule {
        const char *name;    /* of core/knowledge/rules.def */
        char from[8], to[8]; /* releases from <= version < to; "": that end is open */
    } * rules;

    /* ---- how it is repaired ---- */
    /* A function of its module loads CUDA's libraries and cuDNN out of NVIDIA's wheels. */
    struct wc_framework_preloader {
        const char *function, *since;
    } preloader;
    const struct wc_framework_preloaded {
        const char *file;
        int cuda;
    } * preloaded;
    /* Where the build for GPUs goes by another name. */
    const struct wc_framework_gpu_build {
        const char *package, *of_gpu;
        enum wc_installation_kind kind;
    } * gpu_builds;
};

extern const struct wc_framework wc_frameworks[]; /* ends with a row without a name */

#define WC_EACH_FRAMEWORK(f) for (const struct wc_framework *f = wc_frameworks; f->name; f++)
/* Through a list of texts, and one of rows whose first field is `first`. */
#define WC_EACH_TEXT(text, list) for (const char *const *text = (list); text && *text; text++)
#define WC_EACH_KNOWN(row, list, first)                                                            \
    for (const __typeof__(*(list)) *row = (list); row && row->first; row++)

const struct wc_framework *wc_framework_named(const char *name); /* NULL: none */
/* By the last element of a main library's path; NULL: none. A literal. */
const char *wc_framework_of(const char *path);
/* Does the library of that path open libcudnn.so.N by itself, without a symbol that shows it? */
bool wc_framework_opens_cudnn(const char *path);
/* The i-th of the package in this folder (length bytes); NULL past the last. */
const struct wc_framework_file *wc_framework_preload(const char *folder, size_t length,
                                                     bool if_missing, size_t i);
