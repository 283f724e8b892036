/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching calls: wrappers that forward to what a slot held, or to what dlsym returned. The
 * shim's lock is held in all functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object;
struct slot;

/* The wrapper that forwards to target (a function in `library`). 0: no instance is left. */
uintptr_t call_wrapper(int row, uintptr_t target, const struct object *library);
/* The wrapper for a lazy slot of `host` that still leads to its PLT: it calls the loader's
 * resolver, not the PLT, and looks after each call whether that has put the target there. got: the
 * host's DT_PLTGOT, whose second and third word are the link map and the resolver. 0: no instance
 * is left.
 */
uintptr_t call_wrapper_lazy(int row, const struct slot *slot, const struct object *host,
                            const uintptr_t *got);
/* Did a lazy slot get a wrapper, though something else may be there now? */
bool call_has_wrapper(int row, uintptr_t slot);
