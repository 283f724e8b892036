/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened, in time order: requests and their answers, calls, and when a finding that holds
 * was noted.
 */
#pragma once

#include "report.h"

struct moment {
    const struct wc_record *record;
    double seconds;            /* since the first */
    enum wc_severity severity; /* of a finding; else NONE */
    char *text;                /* untrusted */
};

struct timeline {
    struct moment *p;
    size_t n;
};

/* Needs a source that kept its events; else there is none. */
void timeline_make(struct timeline *t, const struct report *report);
void timeline_end(struct timeline *t);
