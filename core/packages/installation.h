/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The installation, and the Python distribution, that a file belongs to.
 */
#pragma once

#include "core/base/reading.h"
#include "core/knowledge/frameworks.h"
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

/* CUDNN_MAJOR, CUDNN_MINOR and CUDNN_PATCHLEVEL of a header; NONE: not all there. */
struct wc_version wc_header_version(struct wc_reading *r, const char *header);

/* Is a package so named one of cuDNN's own? '_' is taken for '-'. */
bool wc_is_cudnn_package(enum wc_installation_kind kind, const char *name);

/* A package, as its manager has recorded it: a distribution of Python, or one of conda or Debian.
 * Other texts lie in the reading's memory. */
struct wc_distribution {
    const char *site;     /* the directory that packages are installed into; conda's prefix */
    const char *info;     /* of Python: its name.dist-info below site */
    const char *list;     /* the file that lists its files: RECORD, a file of conda-meta, dpkg's */
    const char *relative; /* the file, below site */
    char name[64];        /* "nvidia-cudnn-cu12"; of dpkg perhaps with ":architecture" */
    char version[WC_VERSION_TEXT];
    char build[64]; /* of conda */
    bool changed;   /* the file is not as long as RECORD says: something else was put there */
};
/* Which packages are wanted: by a name, or the name of a record. */
typedef bool wc_distribution_fits(void *ctx, const char *name);

/* Those of the nearest conda environment around a path by the file names of conda-meta; owner: the
 * one that lists it, which may be of an environment further up. How many, up to most. */
size_t wc_conda_packages(struct wc_reading *r, const char *path, bool owner,
                         wc_distribution_fits *fits, void *ctx, struct wc_distribution *out,
                         size_t most);
/* The one whose list has that file, by its name: that holds the file's or its folder's, or is one
 * of a framework that is known. */
bool wc_conda_owner(struct wc_reading *r, const char *path, struct wc_distribution *out);
/* By the name of its record, NAME-VERSION-BUILD.json: the name may have dashes, the others not. */
void wc_conda_take(struct wc_distribution *out, const char *prefix, const char *record);
/* By the name of a record; NULL: of none. */
const struct wc_framework *wc_conda_framework(const char *record);
/* May dpkg have put a file there? dpkg's lists of files whose names fit: how many, up to most. The
 * package of such a list, with its version by dpkg's status file; "" unknown. */
bool wc_is_debian_path(const char *path);
size_t wc_debian_lists(struct wc_reading *r, wc_distribution_fits *fits, void *ctx,
                       const char **list, size_t most);
void wc_debian_package(struct wc_reading *r, const char *list, struct wc_distribution *out);

/* ---- Python distributions ---- */

/*
 * By RECORD of the distributions whose names fit; without RECORD only by the name. Of two that
 * both list the file the one whose size is right. False: none is known.
 */
bool wc_distribution_of(struct wc_reading *r, const char *path, struct wc_distribution *out);
/* By the name of a dist-info. False: it is none. */
bool wc_distribution_take(struct wc_distribution *out, const char *site, const char *info,
                          const char *relative);
/* The site that a file is in, by the directory's name or as the nearest one with distributions,
 * in r's memory; NULL: none. */
const char *wc_distribution_site(struct wc_reading *r, const char *path);
/* The distributions of a site whose normalised names ("jax_cuda12_plugin") fits() takes. How many,
 * up to most. */
size_t wc_distributions_in(struct wc_reading *r, const char *site, wc_distribution_fits *fits,
                           void *ctx, struct wc_distribution *out, size_t most);
/* What put it there: "pip", "uv", "conda". False: it does not say. */
bool wc_distribution_installer(struct wc_reading *r, const struct wc_distribution *d, char *to,
                               size_t cap);
/* Length of the part of `relative` that is the distribution's own folder: "nvidia/cudnn". */
size_t wc_distribution_folder(const char *relative);
/* PEP 508, a line of METADATA: "Requires-Dist: NAME[EXTRAS] (SPEC) ; MARKER". In the line; marker
 * NULL: none. False: another line. */
struct wc_requirement {
    const char *name, *spec, *marker;
    size_t name_length, spec_length;
    char normal[64]; /* the name, normalised */
};
bool wc_requirement_read(const char *line, struct wc_requirement *out);
/* Is it one of METADATA's headers? They come before the description, which may be long. */
bool wc_is_header(const char *line);
const char *wc_behind_last(const char *text, const char *mark); /* NULL: not in it */
/* PEP 503 with '_': lower case, runs of -_. become one; NUL-terminated, cut to cap. */
void wc_distribution_normalise(const char *name, size_t n, char *to, size_t cap);
