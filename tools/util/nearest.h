/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which word was meant: the one with the fewest changes to become what was typed.
 */
#pragma once

#include <stddef.h>

struct nearest { /* all zero: nothing was looked at yet */
    const char *word, *second;
    size_t changes, second_changes;
};

/* Takes word in if it is near enough to be meant: it has all of `typed`, or a third of its
 * characters at most are missing, wrong, too many or change places with the next one. */
void nearest_look(struct nearest *n, const char *typed, const char *word);
/* "; did you mean report or repair?"; "" where none is near. The caller frees. */
char *nearest_question(const struct nearest *n);
