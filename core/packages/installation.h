/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The installation that a file belongs to. For core/ only.
 */
#pragma once

#include "core/base/reading.h"
#include "identify.h"

/*
 * Fills the installation_* fields of out. *cudnn: the version of cuDNN that the package states,
 * NONE if it states none, or if the file is not what it installed.
 */
void wc_installation_of(struct wc_reading *r, const char *path, struct wc_identity *out,
                        struct wc_version *cudnn);

/* The mount that a file is in. */
struct wc_mount {
    char point[256];
    bool bound;   /* it shows a file or a directory of elsewhere, not a whole file system */
    bool of_file; /* of this very file */
    bool no_execution;
};
/* False: of no such mount, or not known. */
bool wc_mount_of(struct wc_reading *r, const char *path, struct wc_mount *out);

/* Is a package so named one of cuDNN's own? '_' is taken for '-'. */
bool wc_is_cudnn_package(enum wc_installation_kind kind, const char *name);

/* The packages whose records fit (file names of conda-meta) in the nearest conda environment around
 * a path; owner: the distribution that lists it, which may be of an environment further up. How
 * many, up to most. Texts are in r's memory. */
struct wc_conda_package {
    const char *prefix; /* the environment */
    const char *record; /* prefix/conda-meta/name-version-build.json */
    char name[64], version[WC_VERSION_TEXT], build[64];
};
size_t wc_conda_packages(struct wc_reading *r, const char *path, bool owner,
                         bool (*fits)(void *ctx, const char *record), void *ctx,
                         struct wc_conda_package *out, size_t most);
/* May dpkg have put a file there? dpkg's lists of files whose names fit: how many, up to most. Of
 * such a list the package ("name" or "name:architecture"; NULL: no memory), and its version by
 * dpkg's status file; "" unknown. Texts are in r's memory. */
bool wc_is_debian_path(const char *path);
size_t wc_debian_lists(struct wc_reading *r, bool (*fits)(void *ctx, const char *name), void *ctx,
                       const char **list, size_t most);
const char *wc_debian_package(struct wc_reading *r, const char *list, char *to, size_t cap);
