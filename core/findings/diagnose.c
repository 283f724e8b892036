/* SPDX-License-Identifier: Apache-2.0 */
/* All findings over a stack, in the order of core/findings/findings.def: see
 * core/findings/diagnose.h. */
#include "finding.h"

static const struct wc_finding_kind kinds[] = {
#define FINDING(name, id, severity, title) {id, WC_severity_##severity, title, wc_find_##name},
#include "findings.def"
};

const struct wc_finding_kind *wc_finding_kinds(size_t *n) {
    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}

/* Stable: within one severity the order of the table, and of the stack, stands. */
static void worst_first(struct wc_findings *f) {
    for (size_t i = 1; i < f->n; i++) {
        struct wc_finding_record r = f->p[i];
        size_t k = i;
        for (; k > 0 && f->p[k - 1].severity < r.severity; k--)
            f->p[k] = f->p[k - 1];
        f->p[k] = r;
    }
}

void wc_diagnose(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out) {
    struct wc_diagnosis d = {.s = s, .scratch = scratch, .out = out};

    *out = (struct wc_findings){NULL, 0, 0};
    wc_find_uses(&d);
    wc_judge_all(&d);
    WC_EACH_ROW(kind, kinds) {
        d.kind = kind;
        kind->find(&d);
    }
    worst_first(out);
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
