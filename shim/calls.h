/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching calls: wrappers that forward to what a slot held, or to what dlsym returned. The
 * shim's lock is held in both functions.
 */
#pragma once

#include <stdint.h>

struct object;
struct slot;

/* The wrapper that forwards to target (a function in `library`). 0: no instance is left. */
uintptr_t call_wrapper(int row, uintptr_t target, const struct object *library);
/* The wrapper for a lazy slot of `host` that still leads to its PLT: after each call it looks
 * whether the loader has put the target there. 0: no instance is left. */
uintptr_t call_wrapper_lazy(int row, const struct slot *slot, const struct object *host);
