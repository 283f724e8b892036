/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices changes of the loader's list of objects, reads the new objects once, and rewrites their
 * slots (shim/README.md, "Noticing new objects"). Unless a comment says so, callers do not hold the
 * shim's lock, because these functions take the loader's before it. If this thread's `walk` does
 * not allow reading the list, they use only what is known.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Called by __gmon_start__, which every object's _init calls when all objects of this load are
 * relocated, and no code of them has run. untouched: the first such object on the list; NULL: not
 * known, so the last look at the list decides. */
void rescan_in_initialisation(uintptr_t return_address, const struct link_map *untouched);
/* Called by a dl* hook, for objects that do not call __gmon_start__. */
void rescan_second_chance(void);
/* Called by hooks: the host's call may change the list, and put an object where another one was. */
void rescan_note_open(void);
void rescan_note_close(void);

/* Called by our constructor: reads the start-up objects, unless an object's initialisation has
 * called us (a -pg program's __gmon_start__ hides ours). Takes no lock of the loader: a thread of a
 * start-up constructor may be in a dlopen that waits for this thread. */
void rescan_if_never(void);
/* Called when the shim wakes: notes where the start-up objects lie, which asleep.c found before the
 * first dlopen. Constructors that run before ours may start threads that open libraries. */
void rescan_note_start(void);

/* Do both addresses lie in the same start-up object? */
bool rescan_is_same_at_start(uintptr_t one, uintptr_t other);

/* Were the known objects forgotten since the last look, because of a fork? The caller holds the
 * lock.
 */
bool rescan_is_outdated(void);
/* Makes the object at that address a host, unless it is a cuDNN library. Its number; WC_NULL:
 * unknown.
 */
int64_t rescan_promote(uintptr_t address);
/* Path of the object that an address is in, in our memory, by the list; NULL: not known. */
const char *rescan_path_at(uintptr_t address);
/* The same; NULL also if the path is known without reading the list. */
const char *rescan_path_if_new(uintptr_t address);
/* The same without reading the list; the caller holds the lock. */
const char *rescan_known_path(uintptr_t address);
/* Are the names of all listed objects known, up to this thread's last request? Does an object
 * answer to the name? known: the result of the former; if false, "perhaps" counts as yes for names
 * that are not of cuDNN or CUDA. The caller holds the lock. */
bool rescan_knows_names(void);
bool rescan_answers(const char *name, bool known);
/* Updates load_chain.h: objects that have nothing to do with cuDNN may be new. False:
 * this thread may not look now. */
bool rescan_load_chain(void);
