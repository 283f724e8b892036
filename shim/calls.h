/*
 * Watching calls: typed wrappers that forward to what a slot held, or to what dlsym returned. A
 * fixed number of instances per function, made by the compiler; which target an instance forwards
 * to is data. The shim's lock is held in all functions but call_target_of.
 */
#ifndef SHIM_CALLS_H
#define SHIM_CALLS_H

#define CALL_INSTANCES 8 /* per function */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

#define NOT_WATCHED (-1)

struct object;

/* Row of watched.def, NOT_WATCHED if the function has none or its prototype is not known to hold
 * for that major. */
int call_row(const char *function, int major);

/* The wrapper that forwards to target (a function in `library`). 0: no instance is left. */
uintptr_t call_wrapper(int row, uintptr_t target, const struct object *library);
/* The wrapper for a lazy slot of `host` that still leads to its PLT: after each call it looks
 * whether the loader has put the target there. 0: no instance is left. */
uintptr_t call_wrapper_lazy(int row, uintptr_t plt, uintptr_t slot, const struct object *host);

/* Is it one of our wrappers? Then the function behind it, else 0. */
uintptr_t call_target_of(uintptr_t address);
/* An object is gone: instances that forward into it, or watch its slots, are free again. */
void calls_forget_object(const struct object *o);
#endif

#endif
