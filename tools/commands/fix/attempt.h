/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command watched again, with a repair made for real where it can be thrown away: in a
 * process of its own, whose variables and directories no other process sees. Where it takes a
 * finding away and the next cause comes to light, that one's repair is made on top.
 */
#pragma once

#include <jansson.h>

#include "job.h"

struct attempt {
    char *const *command;
    char *work; /* a directory for what is thrown away; not there yet */
    const struct job *before;
    const struct summary_row *row; /* whose finding */
    const struct repair *repair;
    int status_before; /* -1: not known */
};

/* What came of it: {cures, stopped, trouble, status, cudnn, outcome, left: [...],
 * steps: [{kind, text}], keep, rounds}. trouble: it could not be tried; outcome: a sentence; keep:
 * what to do for it to stay; steps: the same, one by one, as apply has them. New reference. */
json_t *attempt_make(const struct attempt *a);
