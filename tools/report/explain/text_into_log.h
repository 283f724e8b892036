/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program printed next to what its log knows: the text's version that was wanted is a demand
 * of the log's host, the found one is what cudnnGetVersion gave, a status is that of a
 * call.
 */
#pragma once

#include "core/records/emit.h"
#include "messages.h"
#include "tools/observe/log/source.h"

struct text_view {
    const char *name, *of; /* "what it printed", " of FILE": where its evidence is from */
    bool fallbacks; /* only text which says that the program continues without the GPU counts, or,
                     * if nobody knows how this process ended, that it refuses its cuDNN */
    bool quiet;
};

/* Passes the records to the sink. What does not fit is complained of, a line each: a version that
 * nothing in the log can have given. */
void text_into_log(const struct messages *m, const struct text_view *view, struct source *s,
                   const struct wc_sink *to);
