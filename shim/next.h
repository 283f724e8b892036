/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definitions of the dl functions that come after ours in the loader's order: another preload's
 * or the C library's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "entry.h"

/* Address of the next definition, 0 if no object after us has one (a program without libdl before
 * glibc 2.34). Looked up at first use (start.c). */
uintptr_t next_definition(unsigned entry);
/* The C library's own, whoever else has one in front of it; 0: none. */
uintptr_t next_of_libc(unsigned entry);
/* The resolver of the IFUNC symbol of that name, one of ours, behind us; 0: none. */
uintptr_t next_resolver(const char *name);

/* The list of variables that getenv reads now, which setenv may move; NULL: not known. */
const char *const *next_environment(void);

/* False under another C library: there the shim forwards and does nothing else. To be asked after
 * relocation. */
bool next_is_glibc(void);

/* False while the loader has not relocated us: an IFUNC resolver of the host calls, and nothing
 * that needs an import, thread-local storage or a pointer in our data works. */
bool next_are_we_relocated(void);
