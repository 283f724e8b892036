/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repair made: permanently, by the commands of what manages the environment, or for a try, where
 * it can be thrown away.
 */
#pragma once

#include <jansson.h>

#include "tools/commands/input.h"

struct attempt {
    char *const *command;
    char *work; /* a directory for what is thrown away; not there yet */
    const struct job *before;
    const struct summary_row *row; /* whose finding */
    const struct repair *repair;
    int status_before; /* -1: not known */
};

/* The command watched again, with the repair made for real in a process of its own, whose variables
 * and directories no other process sees. Where it takes a finding away and the next cause comes to
 * light, that one's repair is made on top. Gives what came of it: {cures, stopped, trouble, status,
 * cudnn, outcome, left: [...], steps: [{kind, text}], keep, rounds}. trouble: it could not be
 * tried; outcome: a sentence; keep: what to do for it to stay; steps: the same, one by one, as
 * apply has them. New reference. */
json_t *attempt_make(const struct attempt *a);

/* held: what an attempt reported about the repair that held; NULL: nothing was tried, the first one
 * is taken. command: by which it can be seen, NULL: not known. *applied becomes what was done. An
 * exit code; after a signal all is as it was, and it is the signal's. */
int apply_best(const struct job *j, const json_t *held, char *const *command, bool yes,
               json_t **applied);
/* Puts back what a repair that was cut off has left half done. where: a journal, an environment, a
 * log or a directory of logs; NULL: here, or the newest log. yes: a journal that was not named by
 * the user is not asked about. An exit code. */
int undo(const char *where, bool yes);
