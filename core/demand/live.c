/* SPDX-License-Identifier: Apache-2.0 */
/* What the library looks for in the host; all else is left to the command. */
#include "finding.h"

static const struct wc_finding_kind live[] = {
#define LIVE(name, id, severity, title) {id, WC_severity_##severity, wc_find_##name},
#include "findings.def"
};

void wc_diagnose_live(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out) {
    wc_diagnose_kinds(live, sizeof live / sizeof *live, s, scratch, out);
}
