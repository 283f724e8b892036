/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread had begun when a log ends: its last request or watched call that nothing later
 * shows as over. For a call that is exact. A request is followed by no record when it succeeds
 * with nothing relevant, so "it was the last one asked for" is all that can be printed.
 */
#pragma once

#include "whichcudnn/record.h"

struct flight;
struct in_flight { /* all zero: nothing noted yet */
    struct flight *by_thread, *by_request;
};

void in_flight_note(struct in_flight *f, const struct wc_record *r);
/* What began last: "cudnnCreate", "dlopen libcudnn.so.9"; *seq: its record. NULL: none.
 * Lives until the next note. */
const char *in_flight_last(const struct in_flight *f, int64_t *seq);
/* If that is a request: the failure that it would be if it came to nothing. False: it is a call.
 * Its texts live until the next note. */
bool in_flight_failure(const struct in_flight *f, struct wc_record *out);
/* Each text (allocated, or NULL) may be replaced by another. */
void in_flight_rewrite(struct in_flight *f, void (*replace)(const void *arg, char **text),
                       const void *arg);
void in_flight_end(struct in_flight *f);
