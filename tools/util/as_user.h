/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose rights count for files that are looked at: root may read all, and the process that it
 * started as another user (setpriv, gosu, su) may not.
 */
#pragma once

#include <sys/types.h>

/* From here on those of this user, and of the groups that it logs in with. No effect for root, and
 * of others than root. */
void as_user(uid_t user);
void as_self(void);
