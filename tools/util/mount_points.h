/* SPDX-License-Identifier: Apache-2.0 */
/* Where something is mounted, as this process sees it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/packages/identify.h"

struct mount_points { /* zero: none */
    char **p;
    size_t n;
};

/* Those that `wanted` takes. Without a /proc there are none. */
void mount_points_read(struct mount_points *out,
                       bool (*wanted)(const char *point, const struct wc_mount_line *line));
bool mount_points_have(const struct mount_points *m, const char *path);
void mount_points_end(struct mount_points *m);
