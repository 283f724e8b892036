/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows `whichcudnn inspect`, which reads the memory of another process, where the shim's wrappers
 * are: a rewritten slot points to a wrapper, and the target in its instance is the binding. The
 * shim has this struct once, in read-only memory.
 */
#pragma once

#define WC_WRAPPERS_MARK "whichcudnn wrappers, v2:"

#ifndef __ASSEMBLER__
#include <stdint.h>

struct wc_wrappers {
    char mark[24];         /* WC_WRAPPERS_MARK */
    int32_t wrappers;      /* distance from this field to the first wrapper */
    uint32_t wrapper_size; /* distance from one wrapper to the next */
    int32_t instances;     /* distance from this field to the table of instances, one a wrapper */
    uint32_t count;        /* of wrappers, and of instances */
    uint32_t size;         /* of an instance */
    uint32_t target;       /* offset in an instance of the address that it forwards to; 0: unused */
};
#endif
