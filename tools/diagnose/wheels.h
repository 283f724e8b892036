/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's wheels: what tools/knowledge/wheel_files.def knows of them, which release a range gives,
 * and what a library of that release states. And the wheels of a site-packages as the disk has
 * them. Texts live in the arena that is given.
 */
#pragma once

#include "core/base/files.h"
#include "entries.h"
#include "image.h"
#include "tools/observe/loader/library_cache.h"

struct wheel_file {
    const char *file;   /* below site-packages; the last part is its SONAME */
    const char *needed; /* its DT_NEEDED, with blanks between */
    const char *path;   /* its DT_RUNPATH or DT_RPATH; NULL: neither */
    bool is_rpath;
};

struct wheel_list {
    const struct wheel_file *p;
    size_t n; /* 0: nothing is known of that release */
};
/* With what may follow it: "2.26.2.post1", "8.9.7.29-1+cuda12.2"; NONE: it begins with none. */
struct wc_version wheel_version(const char *text);
/* The other way about. */
#define view_version(v, version)                                                                   \
    wc_version_format(version, wc_arena_take((v).memory, WC_VERSION_TEXT))
struct wheel_list wheel_list(struct wc_arena *memory, const char *package,
                             struct wc_version release);

/* Is there a release of cuDNN of which a library needs that one, of whatever number? */
bool wheel_cudnn_needs(const char *library);

/* The packages that come with it. */
struct entries wheel_required(struct wc_arena *memory, const char *package,
                              struct wc_version release);

/* The newest release of a wheel of cuDNN that the set accepts ("": any); NULL: the index has none,
 * or only such as are newer than the table. */
const char *wheel_newest(const char *package, const char *spec);

/* The first release of cuDNN, in archives too, that was made for the CUDA of a wheel; NULL: not
 * known. */
const char *wheel_oldest(const char *package);

/* The package that has a library, by its SONAME, for a CUDA (-1: as the SONAME says); NULL: none,
 * or not known. *spec: the releases of it, "": all. */
const char *wheel_with(struct wc_arena *memory, const char *soname, int32_t cuda,
                       const char **spec);

/* The newest releases of a host's package that require a set of that wheel's releases with this one
 * in it, perhaps with an extra; NULL: none is known. */
const char *host_releases(struct wc_arena *memory, const char *package, const char *wheel,
                          struct wc_version release);

/* The release that a package manager would take: the newest known that the set accepts, else the
 * least that it allows. spec "": any. NONE: there is none. */
struct wc_version wheel_release(const char *package, const char *spec);

/* What means that library of that package; false: it is not known. file: its path or
 * name. */
bool wheel_image(struct wc_arena *memory, const char *package, const char *file,
                 struct wc_version release, struct image *out);

/* As a library states; NONE: it does not. */
struct wc_version library_release(struct library_cache *libraries, const char *path);
/* As library_cuda_named(); -1: not of one. */
int32_t library_cuda(struct library_cache *libraries, const char *path);
/* NULL: it has none, or is no library. */
const char *library_soname(struct library_cache *libraries, const char *path);
/* The release of a package that counts as installed in a site, or a prefix of conda; NULL: none
 * does. *info: its name.dist-info, or its record, below that; info NULL: it is not asked for. */
const char *wheel_installed(struct view view, const char *site, const char *package,
                            const char **info);
/* A package by that name of its dist-info folder, or record. */
void wheel_take(struct wc_distribution *d, const char *path, const char *info);
bool wheel_is_name(const char *name, size_t n, const char *package);

/* ---- the packages of a site, or a prefix of conda: what they list, what they require ---- */

struct requirements {
    struct requirement {
        const char *by;      /* which package: "torch 2.9.0" */
        const char *info;    /* "torch-2.9.0.dist-info", "conda-meta/cupy-8.2.0-py38_0.json" */
        const char *package; /* "nvidia-cudnn-cu12", however it is written there */
        const char *spec;    /* "<10,>=9.8", without blanks; "": any release */
        bool extra;          /* with an option that not all request */
    } * p;
    size_t n;
};

struct listed {
    struct listed_file {
        const char *path;
        uint64_t size;    /* in bytes; 0: not stated */
        bool link;        /* to another one */
        const char *info; /* of a wheel in a site: which one, and the path is below that */
    } * p;
    size_t n;
};

struct site {
    struct site *next;
    const char *path;
    struct entries infos;    /* of each package whose list is not read yet */
    struct listed libraries; /* of all wheels, by site_libraries() */
    struct requirements requires;
};

struct sites { /* each is read once for all of a plan; zero at first */
    struct site *first;
    struct heap_arena memory;
};

/* The libraries on the list of a package: of a wheel, by its dist-info folder, RECORD; where that
 * is gone, what the wheels of NVIDIA's of that release have, without sizes; of conda's by its
 * record, of dpkg's by that list. p NULL: there is no list. */
struct listed list_of(struct view view, const char *record);
/* files: of the disk, without any change. Lives until sites_end(). */
struct site *site_of(struct sites *sites, const struct wc_files *files, const char *path);
const struct site *site_libraries(struct sites *sites, const struct wc_files *files,
                                  const char *path);
/* Adds those of a METADATA, which is changed; NULL: there are none. by and info are left to the
 * caller, who frees the list. */
void requirements_add(struct requirements *to, struct wc_arena *memory, char *metadata);
/* Of a library of CUDA's, and always: what others are made of is not known. */
bool requirement_is_known(const struct requirement *q);
/* As package managers take a set of releases: "<10, >=9.8" without the blank. */
const char *without_blanks(struct wc_arena *memory, const char *text, size_t n);
void sites_end(struct sites *sites);

/* What lacks libraries of those that a Python finds, by package records. */
void wheels_emit(const char *program, struct disk *disk, const struct wc_sink *to);
