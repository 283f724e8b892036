/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definitions of the dl functions that come after ours in the loader's order: another preload's
 * or the C library's. next_in_list, next_definition, next_in_place_of and
 * next_are_we_relocated are in start.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "entry.h"

struct link_map;

/* What the first object on a list that is behind us (behind_us: each is) and fits (NULL: each does)
 * defines under that name with that symbol type; 0: none. Start-up objects suffice: the C library
 * is one. Before glibc 2.34 libdl may be loaded later, but then it is never unloaded. */
uintptr_t next_in_list(const struct link_map *m, bool behind_us, const char *name, unsigned type,
                       bool (*fits)(const struct link_map *m));
/* Address of the next definition, 0 if no object after us has one (a program without libdl before
 * glibc 2.34). Looked up at first use. */
uintptr_t next_definition(unsigned entry);
/* That of which this is our own definition; another address in us stays as it is. */
const void *next_in_place_of(const void *address);
/* The C library's own definition, also if another preload's comes before it; 0: none. */
uintptr_t next_of_libc(unsigned entry);
/* The resolver of the IFUNC symbol of that name in an object after us, which is a second copy of
 * the shim; 0: none. */
uintptr_t next_resolver(const char *name);

/* The current environ of the C library, which setenv may replace; NULL: not known. */
const char *const *next_environment(void);

/* False: an IFUNC resolver of the host calls before the loader has relocated us. Then imports,
 * thread-local storage and pointers in our data do not work. */
bool next_are_we_relocated(void);
