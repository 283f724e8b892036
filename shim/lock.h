/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one lock of the shim, over its model, tables and log. Order: the loader's locks first, ours
 * last; whoever holds it makes no call that could take a lock of the loader.
 */
#pragma once

#include <stdbool.h>

/* False: not to be had (its owner was killed inside), or this is a child that shares its parent's
 * memory (vfork); the caller observes nothing. A lock that a thread of the parent process held at
 * fork is taken over. While it is held no signal handler of the host interrupts this thread. */
bool lock_take(void);
void lock_release(void);
/* A lock was taken over: what its owner was changing may be half done. Cleared by the call. */
bool lock_was_inherited(void);
