/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definitions of the dl functions that come after ours in the loader's order: another preload's
 * or the C library's.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "entry.h"

/* Address of the next definition, 0 if no object after us has one (a program without libdl before
 * glibc 2.34). Looked up at first use. Takes the loader's write lock: not under ours. */
uintptr_t next_definition(unsigned entry);

/* The C library's dl_iterate_phdr, whoever else in the process has one: libtsan's does not work
 * before its own start, and some programs' answers out of a cache. */
int next_walk(int (*each)(struct dl_phdr_info *, size_t, void *), void *argument);

/* False in a child that was forked beside other threads: one of them may have held the loader's
 * write lock, which nobody releases there, and no lookup of the host takes. Until the child's own
 * dlopen has taken it, and a walk in that process is told here. */
bool next_may_walk(void);
void next_walks_in(unsigned process);

/* False under another C library: musl's loader gives constructors no arguments and holds no lock in
 * dl_iterate_phdr. There the shim forwards and does nothing else. To be asked after relocation. */
bool next_is_glibc(void);

/* False while the loader has not relocated us: an IFUNC resolver of the host calls, and nothing
 * that needs an import, thread-local storage or a pointer in our data works. */
bool next_are_we_relocated(void);
