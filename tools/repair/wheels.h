/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVIDIA's wheels hold: which release a range gives, which library lies where, what a library
 * of that release says of itself.
 */
#pragma once

#include "image.h"
#include "tools/util/memory.h"

/* The release that a package manager would take: the newest known that the set accepts, else the
 * least that it allows. spec "": any. NONE: there is none. */
struct wc_version wheel_release(const char *package, const char *spec);

struct wheel_files {
    const char **p; /* below site-packages */
    size_t n;
};
/* The libraries of a wheel; nothing where it is not known. Texts are in the arena. */
struct wheel_files wheel_files(struct wc_arena *memory, const char *package,
                               struct wc_version release);
/* The wheel that it requires; NULL: none that matters. */
const char *wheel_requires(struct wc_arena *memory, const char *package);
/* The wheel that has a library, by its SONAME ("libcublasLt.so.12"); NULL: none is known. *spec:
 * the releases of it that have it. */
const char *wheel_of_library(struct wc_arena *memory, const char *soname, const char **spec);

/* What stands for that library of that package; false: it is none that we know. file: its path or
 * name. */
bool wheel_image(struct wc_arena *memory, const char *package, const char *file,
                 struct wc_version release, struct image *out);
