/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_points.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

void mount_points_read(struct mount_points *out,
                       bool (*wanted)(const char *point, const struct wc_mount_line *line)) {
    OWNED_FILE FILE *from = fopen("/proc/self/mountinfo", "re");
    char *line = NULL, point[PATH_MAX];
    struct wc_mount_line read;
    size_t room = 0;

    *out = (struct mount_points){NULL, 0};
    while (from && getline(&line, &room, from) > 0)
        if (wc_mount_read(line, point, sizeof(point), &read) && wanted(point, &read))
            *MUST_ADD(out->p, out->n) = must_copy(point);
    free(line);
}

bool mount_points_have(const struct mount_points *m, const char *path) {
    return WC_ANY(point, *m, strcmp(*point, path) == 0);
}

void mount_points_end(struct mount_points *m) {
    for (size_t i = 0; i < m->n; i++)
        free(m->p[i]);
    free(m->p);
}
