/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best repair, made permanently, by the commands of what manages the environment.
 */
#pragma once

#include <jansson.h>

#include "job.h"

/* held: what an attempt reported about the repair that held; NULL: nothing was tried, the first one
 * is taken. command: by which it can be seen, NULL: not known. *applied becomes what was done. An
 * exit code; after a signal all is as it was, and it is the signal's. */
int apply_best(const struct job *j, const json_t *held, char *const *command, bool yes,
               json_t **applied);
/* Puts back what a repair that was cut off has left half done. where: a journal, an environment, a
 * log or a directory of logs; NULL: here, or the newest log. yes: a journal that was not named by
 * the user is not asked about. An exit code. */
int undo(const char *where, bool yes);
