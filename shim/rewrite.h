/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes wrappers into the slots of watched functions. The shim's lock is held in both functions.
 */
#pragma once

#include <stdbool.h>

struct object;

/* Is the loader still relocating the host? Until then its RELRO pages are writable. This happens if
 * an IFUNC resolver of the host calls us: in the thread that holds the loader's lock, so this lock
 * is not a protection. */
bool rewrite_is_too_early(const struct object *host);
/* Reads the slots of a mapped host and rewrites those of watched functions. Called while the
 * loader's list is walked: the host stays mapped, and all listed objects are relocated. */
void rewrite_slots(struct object *host);
