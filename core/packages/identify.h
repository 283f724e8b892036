/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file is: its version without calling it, the installation and the distribution it belongs
 * to, what its host's package metadata demands. Pure; reads through struct wc_files.
 */
#pragma once

#include "core/base/reading.h"
#include "core/elf/elf_image.h"
#include "core/names/symbols.h"
#include "whichcudnn/record.h"

struct wc_identity {
    struct wc_version version, floor, ceiling;
    struct wc_version header; /* of the header next to it, where that is another one; else NONE */
    enum wc_version_source version_source;
    enum wc_installation_kind installation_kind;
    char installation[128]; /* "nvidia-cudnn-cu12", "cuda-13.0"; "" unknown */
    char installation_version[WC_VERSION_TEXT];
    char installation_path[1024]; /* identifies the installation; "" unknown */
    char mount[256]; /* mount point that shows the file from elsewhere; "" none, or a wheel's */
};

/*
 * path: the real path. image: of the mapped object or of the file's bytes; NULL: not readable.
 * facade: whether it is the facade. Sources in the order of core/packages/file_version.c, first
 * that answers wins. Uses at most 4 KiB of stack; `scratch` (at least 16 KiB) is for file contents.
 * Of a facade also floor and ceiling, by all that it exports, and header: what programs are
 * compiled with is the header, what they find is the library.
 */
void wc_identify(const struct wc_files *files, const char *path, const struct wc_elf_image *image,
                 bool facade, void *scratch, size_t scratch_size, struct wc_identity *out);
/* Does another file say so, which may describe one that was replaced since: a package, a header? */
bool wc_version_is_claim(enum wc_version_source source);
/* Could a file of this version export what one of these bounds does? */
bool wc_version_in_bounds(const struct wc_release_range *r, struct wc_version v);

/*
 * The packages of cuDNN in the environment of a file (site-packages, conda prefix, dpkg's), each
 * compared with its own list of files: what is missing, what another one put there, what is on no
 * list, as records. Only names and sizes of cuDNN's own libraries are looked at. Stack and scratch
 * as for wc_identify; 64 KiB of scratch hold what is usual. *dpkg_told: whether those of dpkg,
 * which has one list for all directories, were reported before. of_cuda: the wheels of CUDA
 * instead, of which those count that lack a library.
 */
void wc_packages_near(const struct wc_files *files, const char *path, bool of_cuda, bool *dpkg_told,
                      void *scratch, size_t scratch_size, const struct wc_sink *to);
/*
 * Another distribution next to the file's own that requires it, whatever extras were asked for:
 * "faster-whisper 1.1.1". False: none is seen.
 */
bool wc_required_by(const struct wc_files *files, const char *path, const char *distribution,
                    void *scratch, size_t scratch_size, char *to, size_t cap);
/* site-packages of the virtual environment that a Python works in, with '/' behind: by the path
 * that it was started by (NULL: not known), else by VIRTUAL_ENV (NULL: not set). False: in none. */
bool wc_process_site(const struct wc_files *files, const char *program, const char *virtual_env,
                     char *to, size_t cap);
/* Length of the part of a path that names the environment: files that have it in common are near
 * the same packages. */
size_t wc_environment_length(const char *path);

/* One demand found in a host's package metadata. */
struct wc_metadata_demand {
    enum wc_demand_kind kind; /* BUILT or REQUIRED */
    char spec[160];           /* PEP 440; "" unknown */
    char built[WC_VERSION_TEXT];
    bool by_file;     /* built is "": it is the version of the library at source_path */
    char package[48]; /* distribution that is required; "" if none is named */
    /* Is it required only with an extra of the host's package, and is it installed? */
    enum { WC_NO_EXTRA, WC_EXTRA_ABSENT, WC_EXTRA_REFUSED, WC_EXTRA_ACCEPTED } extra;
    char framework[32], framework_version[WC_VERSION_TEXT];
    char source[160]; /* "METADATA of jaxlib 0.10.2" */
    char source_path[1024];
};
/*
 * All that the packages around a host's file say (core/packages/metadata.c; tables:
 * core/knowledge/frameworks.def and built_with.def): the dist-info of the distribution that owns
 * the file (RECORD names it, or its top-level directory), files of the package, conda's record.
 * Of what asks for scripts (_ctypes): of the packages in `site`, the process's (NULL: not known),
 * that have no library and require a cuDNN. Returns how many were written (at most most).
 */
size_t wc_metadata_demands(const struct wc_files *files, const char *host_path, const char *site,
                           void *scratch, size_t scratch_size, struct wc_metadata_demand *out,
                           size_t most);

/* ---- the installation, by a reading that the caller has begun ---- */

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
const struct wc_framework *wc_framework_of_package(const char *normal); /* NULL: of none */
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
