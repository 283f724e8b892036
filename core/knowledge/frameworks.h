/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a framework that uses cuDNN: a row of core/knowledge/frameworks.def.
 */
#pragma once

#include "whichcudnn/record.h"

/* A file that a Python package opens before its own libraries. Paths are from site-packages. */
struct wc_framework_file {
    const char *folder; /* of the package */
    const char *by;   /* the folder of another package, which opens it; NULL: the package itself */
    const char *file; /* '*' and {,} as in a shell; a bare name is for the loader to find */
    unsigned how;     /* wc_framework_how */
};
enum wc_framework_how {
    WC_FRAMEWORK_FILE_IF_MISSING = 1,   /* only if one of its own libraries could not be loaded */
    WC_FRAMEWORK_FILE_ALL = 2,          /* each file that fits; without it the first one */
    WC_FRAMEWORK_FILE_ON_PATH = 4,      /* from a directory of LD_LIBRARY_PATH, by its path */
    WC_FRAMEWORK_FILE_OTHERWISE = 8,    /* only if no row before it opened one for the package */
    WC_FRAMEWORK_FILE_IF_REQUIRED = 16, /* only if the package requires a package of cuDNN */
};

/* A list ends with NULL, lists of rows with a row whose first field is NULL. NULL: nothing is
 * known. */
struct wc_framework {
    const char *name;

    /* ---- its packages ---- */
    const char *const *distributions; /* on PyPI, normalised; '*' at the end: whatever begins so */
    const char *const *conda;         /* how the names of conda's records begin */
    /* The lowest version that its metadata require is that of its compilation. */
    bool floor_is_built;
    /* Distributions whose requirement is in the metadata of another one. */
    const struct wc_framework_related { const char *distribution, *other; } * related;
    /* Top-level directories of site-packages whose name does not begin like the distribution's.
     * From the wheels' top_level.txt and RECORD. */
    const struct wc_framework_folder {
        const char *folder, *distribution; /* normalised; how it begins */
    } * folders;
    /* Directories with the framework's own copies of cuDNN, also outside of a distribution
     * (libtorch's archive, an unpacked wheel). */
    const struct wc_framework_copies {
        const char *within, *installation;
        /* The copies are named by their SONAMEs. So a search by name may find them, and a wheel
         * that requires no cuDNN was built with the one there. */
        bool by_soname;
    } * copies;
    /* Files with the version that it was built with: the first number after the marker on its
     * line. Marker NULL: the header that it was compiled with. */
    const struct wc_framework_version_file { const char *path, *marker; } * version_files;

    /* ---- its libraries ---- */
    /* Main libraries, of which each build has one: the file's name up to its first dot. */
    const char *const *mains;
    /* Files that only CUDA builds have, relative to the directory of the main library; "": the main
     * library itself has cuDNN's functions or stubs of them. */
    const char *const *gpu_libraries;
    /* The CPU-only wheel whose files replace some of the CUDA wheel's if both are installed. */
    const char *put_over;
    /* Libraries (the file's name up to its first dot, with its folder if that matters) that open
     * libcudnn.so.N by name, or use what their package has opened, where their symbols do not show
     * it. N is the major that they were built for. */
    const char *const *openers;
    bool makes_name; /* these put the numbered name together, and ask for a plain one after it */
    const struct wc_framework_file *preloads;

    const struct wc_framework_rule {
        const char *name;    /* of core/knowledge/rules.def */
        char from[8], to[8]; /* releases from <= version < to; "": that end is open */
    } * rules;

    /* ---- how it is repaired ---- */
    /* The function of its module that loads CUDA's libraries and cuDNN from NVIDIA's wheels. */
    struct wc_framework_preloader {
        const char *function, *since;
    } preloader;
    const struct wc_framework_preloaded {
        const char *file;
        int cuda;
    } * preloaded;
    /* Packages whose build for GPUs has another name. */
    const struct wc_framework_gpu_build {
        const char *package, *of_gpu;
        enum wc_installation_kind kind;
    } * gpu_builds;
};

extern const struct wc_framework wc_frameworks[]; /* ends with a row without a name */

#define WC_EACH_FRAMEWORK(f) for (const struct wc_framework *f = wc_frameworks; f->name; f++)
/* Go through a list of texts, and through a list of rows that ends where the field `first` is NULL.
 */
#define WC_EACH_TEXT(text, list) for (const char *const *text = (list); text && *text; text++)
#define WC_EACH_KNOWN(row, list, first)                                                            \
    for (const __typeof__(*(list)) *row = (list); row && row->first; row++)

const struct wc_framework *wc_framework_named(const char *name); /* NULL: none */
/* Name of the framework whose main library this path is; NULL: none. */
const char *wc_framework_of(const char *path);
/* The framework that has this library among its openers; NULL: none. */
const struct wc_framework *wc_framework_opening(const char *path);
/* The i-th preload row of the package in this folder (length bytes); NULL past the last. */
const struct wc_framework_file *wc_framework_preload(const char *folder, size_t length,
                                                     bool if_missing, size_t i);
