/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on one process, and what limits it: the one place that decides, for the summary of a
 * log, for run, report, inspect, scan and check, in every form, and for exit statuses.
 */
#pragma once

#include "core/demand/diagnose.h"
#include "tools/observe/log/source.h"

/* What the caller knows in addition to the stack. All zero: nothing. */
struct wc_outside {
    enum wc_end end; /* where the stack has no outcome */
    const char *how; /* in words, NULL: "with status 1", "killed by SIGSEGV" */
    int64_t lost;    /* records that were written and cannot be read */
};
#define WC_LIMIT(name) (1u << WC_limit_##name)

struct wc_conclusion {
    enum wc_verdict verdict;
    unsigned limits;
    unsigned blocking; /* those of them with which nothing that is good can be said */
    bool died;         /* it did not end well */
    bool passes;       /* --fail-on: not observed for the good reason that there was nothing */
    bool concerned;    /* cuDNN, a host, a framework, or a request for one */
    const struct wc_finding_record *finding; /* its source; NULL: of none */
    /* Below: NULL where no memory was given. */
    struct wc_strings copies; /* each copy of cuDNN: which, its directory, package and hosts; or
                               * that there was none, where that is known */
    const char *text;         /* the sentence after the word of the verdict */
    struct wc_strings known;  /* what is known of an unexplained end, each a sentence */
    const char *next;         /* what to do then */
};

/* memory: for the texts; NULL: none are wanted. */
void wc_conclude(const struct wc_stack *s, const struct wc_findings *f,
                 const struct wc_outside *outside, struct wc_arena *memory,
                 struct wc_conclusion *out);

/* A limit as a sentence. */
const char *wc_limit_text(enum wc_limit limit);
