/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one lock of the shim, for its model, tables and log. Order: the loader's locks first, ours
 * last. So a thread that holds it makes no call that could take a lock of the loader.
 */
#pragma once

#include <stdbool.h>

/* False: the lock is not available (its owner was killed), or this is a child that shares its
 * parent's memory (vfork); then the caller observes nothing. A lock that a thread of the parent
 * held at fork is taken over. While it is held, no signal handler of the host interrupts this
 * thread. */
bool lock_take(void);
void lock_release(void);
/* Was the lock taken over from the parent? Then its data may be half changed. Cleared by the call.
 */
bool lock_was_inherited(void);
