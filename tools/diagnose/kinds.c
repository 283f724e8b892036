/* SPDX-License-Identifier: Apache-2.0 */
#include "core/demand/finding.h"

static const struct wc_finding_kind kinds[] = {
#define FINDING(name, id, severity, title) {id, WC_severity_##severity, wc_find_##name},
#include "core/demand/findings.def"
};

const struct wc_finding_kind *wc_finding_kinds(size_t *n) {
    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}

void wc_diagnose(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out) {
    wc_diagnose_kinds(kinds, sizeof kinds / sizeof *kinds, s, scratch, out);
}
