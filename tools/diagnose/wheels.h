/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's wheels: what tools/knowledge/wheel_files.def knows of them, which release a range gives,
 * and what a library of that release states. Texts live in the arena that is given.
 */
#pragma once

#include "core/base/files.h"
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
struct wheel_list wheel_list(struct wc_arena *memory, const char *package,
                             struct wc_version release);

/* Is there a release of cuDNN of which a library needs that one, of whatever number? */
bool wheel_cudnn_needs(const char *library);

/* The packages that come with it, NULL at the end. */
const char *const *wheel_required(struct wc_arena *memory, const char *package,
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
 * in it; NULL: none is known. *extra: with which extra they do, "": with any. */
const char *host_releases(struct wc_arena *memory, const char *package, const char *wheel,
                          struct wc_version release, const char **extra);

/* The release that a package manager would take: the newest known that the set accepts, else the
 * least that it allows. spec "": any. NONE: there is none. */
struct wc_version wheel_release(const char *package, const char *spec);

/* The newest known of that major, for what says no more than its major: it has all that there may
 * be. */
struct wc_version release_newest(struct wc_arena *memory, int32_t major);

/* What means that library of that package; false: it is not known. file: its path or
 * name. */
bool wheel_image(struct wc_arena *memory, const char *package, const char *file,
                 struct wc_version release, struct image *out);

/* As a library states; NONE: it does not. */
struct wc_version library_release(struct library_cache *libraries, const char *path);
/* The release of a wheel that counts as installed in a site; NULL: none does. *info: its
 * name.dist-info below that; info NULL: it is not asked for. */
const char *wheel_installed(struct wc_arena *memory, const struct wc_files *files, const char *site,
                            const char *package, const char **info);
bool wheel_is_name(const char *name, size_t n, const char *package);
