/* SPDX-License-Identifier: Apache-2.0 */
/* Which release of NVIDIA's a range gives, and what a library of that release states. */
#pragma once

#include "core/base/files.h"
#include "image.h"
#include "tools/observe/loader/library_cache.h"
#include "wheel_table.h"

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
