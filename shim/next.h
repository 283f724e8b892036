/*
 * The definitions of the dl functions that come after ours in the loader's order: another preload's
 * or the C library's.
 */
#ifndef SHIM_NEXT_H
#define SHIM_NEXT_H

#include <stdint.h>

#include "entry.h"

/* Address of the next definition, 0 if no object after us has one (a program without libdl before
 * glibc 2.34). Looked up at first use. Takes the loader's write lock: not under ours. */
uintptr_t next_definition(unsigned entry);

#endif
