/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the shim's wrappers are, for who looks at a process that has it from outside: slots lead to
 * them, and what they forward to is the binding. Stands once in what is read-only of the shim.
 */
#pragma once

#define WC_WRAPPERS_MARK "whichcudnn wrappers, v2:"

#ifndef __ASSEMBLER__
#include <stdint.h>

struct wc_wrappers {
    char mark[24];         /* WC_WRAPPERS_MARK */
    int32_t wrappers;      /* from here to the first of them */
    uint32_t wrapper_size; /* from each to the next */
    int32_t instances;     /* from here to the table of what each of them works with */
    uint32_t count;        /* of both */
    uint32_t size;         /* of an instance, */
    uint32_t target;       /* and where in it the address is that it forwards to; 0: to nothing */
};
#endif
