/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewriting slots: those of watched functions lead to wrappers. The shim's lock is held in both
 * functions.
 */
#pragma once

#include <stdbool.h>

struct object;

/* Is the loader still at it? Its pages that are read-only after relocation are writable until then.
 * An indirect function's resolver may call us from there, in the thread that holds the loader's
 * lock, which so waits for nothing. */
bool rewrite_is_too_early(const struct object *host);
/* Reads the slots of a mapped host and rewrites those of watched functions. While the loader's
 * list is walked: the host stays mapped, everything listed is relocated. */
void rewrite_slots(struct object *host);
