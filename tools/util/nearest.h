/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which word was meant: the one that least has to be changed to become what was typed.
 */
#pragma once

#include <stddef.h>

struct nearest { /* all zero: nothing was looked at yet */
    const char *word;
    size_t changes;
};

/* Takes word instead if it is nearer to `typed`, and near enough to be meant: a third of its
 * characters may be missing, wrong, too many or with the next one's place. */
void nearest_look(struct nearest *n, const char *typed, const char *word);
