/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program printed beside what its log knows: the text's version that was wanted is a demand
 * of the log's host, the one that was found is what cudnnGetVersion gave.
 */
#pragma once

#include "messages.h"
#include "tools/observe/log/source.h"

/* file: of the text. What does not fit is complained of, a line each: a version that nothing in the
 * log can have given is of another run. */
void text_into_log(const struct messages *m, const char *file, struct source *s);
