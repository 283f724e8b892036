/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entering and leaving what the lock guards: the tables, the model, the log. Everybody takes the
 * lock through here, since a lock inherited over a fork means that all of it must be begun anew.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False: not to be had; the caller observes nothing. */
bool state_take(void);
void state_leave(void);
/* Changes whenever everything was begun anew. The lock must be held. */
uint64_t state_epoch(void);
