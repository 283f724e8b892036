/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules: what in a stack does not match. One row of findings.def and one function per finding.
 */
#pragma once

#include "core/model/stack.h"
#include "facts.h"

struct wc_findings {
    struct wc_finding_record *p; /* in the scratch arena, cause before symptom */
    size_t n;
    size_t lost; /* findings that found no memory */
};

/* Fills the columns of the stack's failures (core/model/stack.h), as wc_diagnose does first. */
void wc_fill_columns(const struct wc_stack *s);
/* Fills out; all memory comes from scratch (64 KiB suffice for a usual stack). The same stack
 * always gives the same findings in the same order. */
void wc_diagnose(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out);
/* The same of only the LIVE rows: what must be said before a call is forwarded. */
void wc_diagnose_live(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out);
/* May that record have changed the live ones? Not a request, and not a call that begins or went
 * well. */
bool wc_changes_findings(const struct wc_record *r);
/* The part that a facade of this major hands cudnnGetVersion on to: the number is that part's.
 * NULL: the facade answers itself. */
const char *wc_answering_part(int32_t major);

struct wc_diagnosis;
struct wc_finding_kind {
    const char *id, *title;    /* title: NULL in the library */
    enum wc_severity severity; /* the usual one; a finding may carry a lesser one */
    void (*find)(struct wc_diagnosis *d);
};
const struct wc_finding_kind *wc_finding_kinds(size_t *n);
/* What the two above are made of. */
void wc_diagnose_kinds(const struct wc_finding_kind *kinds, size_t n, const struct wc_stack *s,
                       struct wc_arena *scratch, struct wc_findings *out);
