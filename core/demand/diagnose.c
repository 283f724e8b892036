/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over a stack, in the order of their kinds: see core/demand/diagnose.h. */
#include "finding.h"

/* Before anything runs no part has met another one. The release that a host refuses goes as a
 * whole, whatever its parts are. */
static void refused_before_mixed(struct wc_findings *f) {
    for (size_t i = f->n; i-- > 0;) {
        const char *id = f->p[i].id;
        if (!wc_str_same(id, "parts-differ") && !wc_str_same(id, "facade-and-parts-differ"))
            continue;
        for (size_t k = i + 1; k < f->n; k++) {
            struct wc_finding_record refused = f->p[k];
            if ((!wc_str_same(refused.id, "runtime-too-old") &&
                 !wc_str_same(refused.id, "runtime-too-new")) ||
                refused.explained_by || refused.object != f->p[i].object)
                continue;
            for (; k > i; k--)
                f->p[k] = f->p[k - 1];
            f->p[i] = refused;
            break;
        }
    }
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
    if (s->replayed)
        refused_before_mixed(out);
    worst_first(out);
}

/* What the library looks for in the host; all else is left to the command. */
void wc_diagnose_live(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out) {
    static const struct wc_finding_kind live[] = {
#define LIVE(name, id, severity, title) {id, WC_severity_##severity, wc_find_##name},
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
