/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program printed beside what its log knows: the text's version that was wanted is a demand
 * of the log's host, the one that was found is what cudnnGetVersion gave, a status is that of a
 * call.
 */
#pragma once

#include "core/records/emit.h"
#include "messages.h"
#include "tools/observe/log/source.h"

/* file: of the text. What does not fit is complained of, a line each: a version that nothing in the
 * log can have given is of another run. */
void text_into_log(const struct messages *m, const char *file, struct source *s);

/* Does it say a version or a status, and of something wrong? */
bool match_has_evidence(const struct message_match *m);
/* Can a cuDNN of that process be the one that it says was found? */
bool match_fits(const struct message_match *m, const struct wc_stack *s);
/* The records of one that has evidence and fits. where: their source. */
void match_into_log(const struct message_match *m, const char *where, const struct wc_stack *s,
                    const struct wc_sink *to);
