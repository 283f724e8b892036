/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's GPUs, as NVML reports. It is asked in a process of its own that is given a few
 * seconds: a driver in trouble may hang its callers.
 */
#pragma once

#include "core/model/stack.h"

#define GPUS_MOST 64

struct gpus {
    const char *name[GPUS_MOST]; /* "NVIDIA A100-SXM4-40GB, 8.0": name, compute capability */
    size_t n;                    /* 0: none, or NVML does not exist */
    char text[GPUS_MOST * 80];
};

/* Puts the address of a function in its pointer. False: the library does not have it. */
bool look_up_function(void *library, const char *name, void *function);
void gpus_ask(struct gpus *out);

/* What this machine shows, with a driver that is there, of why it may reach no GPU, in words,
 * which the caller frees. It is looked at, the driver is not asked: so it counts only where a
 * program failed for it. NULL: nothing is seen. */
char *driver_fault(void);
/* What keeps a process of this machine from the MPS daemon. */
char *driver_fault_of_mps(const struct wc_stack *s);
