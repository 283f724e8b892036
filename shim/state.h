/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one lock of the shim, for its model, tables and log. Order: the loader's locks first, ours
 * last. So a thread that holds it makes no call that could take a lock of the loader.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False: the lock is not available (its owner was killed), or this is a child that shares its
 * parent's memory (vfork); then the caller observes nothing. A lock that a thread of the parent
 * held at fork is taken over; then the tables and the model are cleared, as they may be half
 * changed. While it is held, no signal handler of the host interrupts this thread. */
bool state_take(void);
void state_leave(void);
/* Changes whenever everything was cleared. The lock must be held. */
uint64_t state_epoch(void);
