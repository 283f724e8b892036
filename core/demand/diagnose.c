/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over a stack, in the order of their kinds: see core/demand/diagnose.h. */
#include "finding.h"

/* The worse one, and what explains the other one. Of a replay, where no part has met another one
 * yet, also the release that a host refuses before a mixture: it goes as a whole, whatever its
 * parts are. */
static bool goes_before(const struct wc_stack *s, const struct wc_finding_record *a,
                        const struct wc_finding_record *b) {
    if (a->severity != b->severity || wc_str_same(b->explained_by, a->id))
        return a->severity >= b->severity;
    return s->replayed && !a->explained_by && a->object == b->object &&
           (wc_str_same(a->id, "runtime-too-old") || wc_str_same(a->id, "runtime-too-new")) &&
           (wc_str_same(b->id, "parts-differ") || wc_str_same(b->id, "facade-and-parts-differ"));
}

void wc_diagnose_kinds(const struct wc_finding_kind *kinds, size_t n, const struct wc_stack *s,
                       struct wc_arena *scratch, struct wc_findings *out) {
    struct wc_diagnosis d = {.s = s, .scratch = scratch, .out = out};

    *out = (struct wc_findings){NULL, 0, 0};
    wc_fill_columns(s);
    wc_find_uses(&d);
    wc_judge_all(&d);
    for (size_t i = 0; i < n; i++) {
        d.kind = &kinds[i];
        kinds[i].find(&d);
    }
    /* Else the order of the table, and of the stack, stands. */
    for (size_t i = 1; i < out->n; i++) {
        const struct wc_finding_record r = out->p[i];
        size_t k = 0;
        while (k < i && !goes_before(s, &r, &out->p[k]))
            k++;
        wc_mem_move(&out->p[k + 1], &out->p[k], (i - k) * sizeof r);
        out->p[k] = r;
    }
}

/* What the library looks for in the host; all else is left to the command. */
void wc_diagnose_live(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out) {
    static const struct wc_finding_kind live[] = {
#define LIVE(name, id, severity, title) {id, NULL, WC_severity_##severity, wc_find_##name},
#include "findings.def"
    };

    wc_diagnose_kinds(live, sizeof live / sizeof *live, s, scratch, out);
}

bool wc_changes_findings(const struct wc_record *r) {
    const struct wc_call_record *call = &r->u.call;

    switch (r->kind) {
    case WC_KIND_request:
    case WC_KIND_finding:
    case WC_KIND_summary:
        return false;
    case WC_KIND_call:
        if (call->phase != WC_phase_AFTER)
            return wc_wants_gpu(call->function);
        return (call->status != WC_NULL && call->status != 0) || call->returned_version != WC_NULL;
    default:
        return true;
    }
}
