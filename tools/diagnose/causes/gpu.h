/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs that releases of cuDNN have code for: core/knowledge/gpus.def. */
#pragma once

#include "core/names/version.h"

struct gpu_row {
    const char *first, *last, *least, *most;
    int32_t cuda;
    bool goes_on;
};
extern const struct gpu_table {
    const struct gpu_row *p;
    size_t n;
} gpu_table;

/* That of a release, made for a CUDA (-1: not known); NULL: none. */
const struct gpu_row *gpu_row_of(struct wc_version release, int32_t cuda);
/* The first release behind those of the row; NONE: it goes on. */
struct wc_version gpu_row_end(const struct gpu_row *row);
/* How "NVIDIA A100-SXM4-40GB, 8.0" suits those of the row; UNKNOWN: it has no such number. */
enum gpu_fit { GPU_UNKNOWN, GPU_FITS, GPU_TOO_OLD, GPU_TOO_NEW };
enum gpu_fit gpu_fit_of(const struct gpu_row *row, const char *gpu);
