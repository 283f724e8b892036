/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tools/knowledge/wheel_files.def knows of NVIDIA's wheels. Texts live in the arena that is
 * given.
 */
#pragma once

#include "core/names/version.h"

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
