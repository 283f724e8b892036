/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noticing that the loader's list of objects changed, reading the new ones once, rewriting their
 * slots (docs/design.md, "Noticing what is new"). The shim's lock is not held by callers: these
 * functions take the loader's before it. Where this thread's `walk` allows no look at the list,
 * they do nothing and know what the tables tell.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Out of __gmon_start__, which every object's _init calls when all that came with it is relocated
 * and none of it has run. untouched: that, and what stands behind it on the loader's list, is known
 * to be so; NULL: the last look at the list tells. */
void rescan_in_initialisation(uintptr_t return_address, const struct link_map *untouched);
/* Out of a dl* hook: objects without a __gmon_start__ call. */
void rescan_second_chance(void);
/* Out of hooks: the list may change now. What comes may stand where something else stood. */
void rescan_note_open(void);
void rescan_note_close(void);

/* Out of our own constructor: takes what was there at start, if no object's initialisation ever
 * called us (a -pg program's __gmon_start__ hides ours). Waits for nothing: a thread of a start-up
 * constructor may be in a dlopen that waits for this one. */
void rescan_if_never(void);
/* Before the process's first dlopen: whatever is listed now was there at start. */
void rescan_note_start(void);

/* Do both addresses lie in one object that was there at start? */
bool rescan_is_same_at_start(uintptr_t one, uintptr_t other);

/* What was known of the objects is forgotten: it was half done when this process was forked. The
 * caller holds the lock. */
bool rescan_is_outdated(void);
/* Number of the object at that address, made a host if it is none of cuDNN; WC_NULL: unknown. */
int64_t rescan_promote(uintptr_t address);
/* Path of the object that an address lies in, in our memory; NULL: not known. */
const char *rescan_path_at(uintptr_t address);
/* The same where a look at the list is needed for it, else NULL. */
const char *rescan_path_if_new(uintptr_t address);
/* The same without a look at the list; the caller holds the lock. */
const char *rescan_known_path(uintptr_t address);
/* Are the names of all that is listed known, since this thread's last request? And does any of them
 * answer to the name, or perhaps? The caller holds the lock. */
bool rescan_knows_names(void);
bool rescan_answers(const char *name, bool known);
/* Brings load_chain.h up to date: objects that have nothing to do with cuDNN may be new. False:
 * this thread may not look now. */
bool rescan_load_chain(void);
