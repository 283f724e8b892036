/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wheels of a site-packages as the disk has them: what they list, and what they require. Each
 * site is read once for all of a plan.
 */
#pragma once

#include "core/base/files.h"
#include "tools/util/memory.h"

struct site {
    struct site *next;
    const char *path;
    struct site_wheel {
        const char *info; /* "nvidia_cublas_cu12-12.9.1.4.dist-info" */
        char *record;     /* what site_record() has read; NULL: nothing yet */
    } * p;
    size_t n;
    struct requirements {
        struct requirement {
            const char *by;      /* the info of the wheel that requires it */
            const char *package; /* normalised: "nvidia_cudnn_cu12" */
            const char *spec;    /* "<10,>=9.8", without blanks; "": any release */
        } * p;
        size_t n;
    } requires;
};

struct sites { /* zero at first */
    struct site *first;
    struct heap_arena memory;
};

/* files: of the disk, without any change. Lives until sites_end(). */
struct site *site_of(struct sites *sites, const struct wc_files *files, const char *path);
/* The list of files of its wheel number i; NULL: there is none. */
const char *site_record(struct sites *sites, const struct wc_files *files, struct site *site,
                        size_t i);
void sites_end(struct sites *sites);
