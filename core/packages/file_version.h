/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of a cuDNN file, and what kind of word it is.
 */
#pragma once

#include "core/base/reading.h"
#include "core/elf/elf_image.h"
#include "core/names/symbols.h"
#include "identify.h"

struct wc_version_query {
    struct wc_reading *r;
    const char *path;                 /* real path */
    const struct wc_elf_image *image; /* NULL: not readable */
    struct wc_version package;        /* what its package states; NONE: nothing */
    int32_t major;                    /* by its symbol version, SONAME or name; -1: unknown */
    bool facade;
};
/* The major that symbol version, SONAME and name contain; -1: none does. */
int32_t wc_major_by_names(const struct wc_elf_image *image, const char *path);
/* The first source that knows major, minor and patch; NONE and UNKNOWN: none does. */
struct wc_version wc_file_version(const struct wc_version_query *q, enum wc_version_source *source);
/* Does another file say so, which may describe one that was replaced since: a package, a header? */
bool wc_version_is_claim(enum wc_version_source source);
/* Which releases have and lack what a facade exports and does not. */
struct wc_release_range wc_release_bounds(const struct wc_elf_image *facade);
/* Could a file of this version export what one of these bounds does? */
bool wc_version_in_bounds(const struct wc_release_range *r, struct wc_version v);
/* CUDNN_MAJOR, CUDNN_MINOR and CUDNN_PATCHLEVEL of a header; NONE: not all there. */
struct wc_version wc_header_version(struct wc_reading *r, const char *header);
/* Of the first such header in the include directories next to a library's. */
struct wc_version wc_header_beside(struct wc_reading *r, const char *path);
