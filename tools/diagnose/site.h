/* SPDX-License-Identifier: Apache-2.0 */
/* The wheels of a site-packages as the disk has them. Each site is read once for all of a plan. */
#pragma once

#include "core/base/files.h"
#include "tools/util/memory.h"

struct site {
    struct site *next;
    const char *path;
    struct site_wheel {
        const char *info;   /* "nvidia_cublas_cu12-12.9.1.4.dist-info" */
        const char *record; /* its list of files; NULL: it has none */
    } * p;
    size_t n;
};

struct sites { /* zero at first */
    struct site *first;
    struct heap_arena memory;
};

/* files: of the disk, without any change. Lives until sites_end(). */
const struct site *site_of(struct sites *sites, const struct wc_files *files, const char *path);
void sites_end(struct sites *sites);
