/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What repairs a finding: candidates from the model, each played over an overlay of files and
 * variables (the process's own requests, by the loader's rules) and judged by diagnose() again.
 * One that does not take the finding away, or causes one as bad, is not in the plan.
 */
#pragma once

#include "core/demand/diagnose.h"
#include "edit.h"
#include "tools/observe/log/source.h"

enum repair_checked { REPAIR_NOT_CHECKED, REPAIR_REPLAYED, REPAIR_TRIED };

struct repair {
    struct edits edits;
    const char *action;  /* a word of core/demand/findings.def */
    const char *text;    /* one sentence */
    const char *command; /* made of only the edits; NULL: nothing to paste */
    enum repair_checked checked;
    const char *why;   /* it was not checked; NULL: it was */
    const char *gives; /* "9.8.0", "9.8.0 or newer", "a cuDNN"; NULL: not known */
    const char *from;  /* the directory from which that is loaded */
    const char *but; /* "torch 2.9.0 requires ==9.20.0.48", "conda is not in PATH"; NULL: nothing */
};

struct rejected {
    const char *text, *because;
};

struct checked { /* what a user's command does */
    enum { CHECK_REPAIRS, CHECK_NOTHING, CHECK_BREAKS, CHECK_UNKNOWN } verdict;
    const char *because; /* NULL: it repairs */
};

struct plan { /* one entry a finding, in their order */
    struct heap_arena memory;
    struct repair read;     /* what the command was read as */
    struct checked checked; /* whatever is found */
    struct plan_of_finding {
        struct checked checked;
        struct repair *p; /* the cheapest first; where none was played, one sentence (advice.h) */
        size_t n;
        WC_LIST(rejected, rejected); /* what removes the finding and is not a repair */
    } * of;
    size_t n;
};

/* *p must not move until plan_end. The findings are those of the source's stack; both must outlive
 * the plan. command: of a user, the only one to check; NULL: none. why: nothing is to be played,
 * only what usually repairs such findings is wanted; NULL: all is. */
void plan_make(struct plan *p, const struct source *source, const struct wc_findings *findings,
               const char *command, const char *why);
void plan_end(struct plan *p);
const char *check_word(const struct checked *c);
const char *repair_checked_word(enum repair_checked checked);
/* "fix" of what was played or tried, else "suggestion". */
const char *repair_label(const struct repair *r);
/* What is known of it: "replayed: gives 9.8.0 from DIRECTORY", "not replayed: WHY". The directory
 * is shortened where the text has more than that many columns; 0: it is not. The caller frees. */
char *repair_outcome(const struct repair *r, size_t columns);
