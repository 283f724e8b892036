/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds version numbers that are in machine code as constants. For core/ only.
 */
#pragma once

#include "core/elf/elf_image.h"
#include "version.h"

/*
 * The version in the names that a facade of this major makes with
 * snprintf(to, n, "%s.%d.%d.%d", part, major, minor, patch): all such calls must agree. NONE: no
 * call found, or another architecture than x86-64 and aarch64.
 */
struct wc_version wc_version_in_names(const struct wc_elf_image *e, int32_t major);
/* CUDNN_VERSION as a constant in a function's body, of this major; all must agree. x86-64 only. */
struct wc_version wc_version_in_function(const struct wc_elf_image *e, const char *name,
                                         int32_t major);
