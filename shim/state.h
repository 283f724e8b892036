/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes and releases the shim's lock. All code does so through here: after a fork the lock may be
 * inherited, and then the tables and the model have to be cleared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False: the lock is not available; then the caller observes nothing. */
bool state_take(void);
void state_leave(void);
/* Changes whenever everything was cleared. The lock must be held. */
uint64_t state_epoch(void);
