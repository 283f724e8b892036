/* SPDX-License-Identifier: Apache-2.0 */
#include "cause.h"

#include "core/demand/finding.h"

bool asks(const struct wc_finding_record *f, unsigned asked) {
    unsigned all = 0;
    bool is_of_it = false;

#define FINDING(name, id, severity, title) is_of_it = is_a(f, id);
#define REPAIR(what) all |= is_of_it ? (what) : 0;
#include "core/demand/findings.def"
    return (all & asked) == asked;
}

bool is_a(const struct wc_finding_record *f, const char *id) {
    return wc_str_same(f->id, id);
}

static const struct wc_finding_kind kinds[] = {
#define FINDING(name, id, severity, title) {id, title, WC_severity_##severity, wc_find_##name},
#include "core/demand/findings.def"
};

const struct wc_finding_kind *wc_finding_kinds(size_t *n) {
    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}

void wc_diagnose(const struct wc_stack *s, struct wc_arena *scratch, struct wc_findings *out) {
    wc_diagnose_kinds(kinds, sizeof kinds / sizeof *kinds, s, scratch, out);
}
