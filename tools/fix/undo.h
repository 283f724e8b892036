/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts back what a repair that was cut off has left half done.
 */
#pragma once

#include <stdbool.h>

/* where: a journal, an environment, a log or a directory of logs; NULL: here, or the newest log.
 * yes: a journal that was not named by the user is not asked about. An exit code. */
int undo(const char *where, bool yes);
