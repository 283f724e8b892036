/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watched calls: wrappers that forward to the function that a slot held or dlsym returned, and
 * records of the calls. The shim's lock is held in all functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object;
struct slot;

/* The wrapper that forwards to target (a function in `library`). 0: no instance is left. */
uintptr_t call_wrapper(int row, uintptr_t target, const struct object *library);
/* The wrapper for a lazy slot of `host` that still points to its PLT. It calls the loader's
 * resolver, not the PLT, and after each call checks whether the resolver has written the target
 * into the slot. got: the host's DT_PLTGOT, whose second and third word are the link map and the
 * resolver. 0: no instance is left. */
uintptr_t call_wrapper_lazy(int row, const struct slot *slot, const struct object *host,
                            const uintptr_t *got);
