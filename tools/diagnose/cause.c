/* SPDX-License-Identifier: Apache-2.0 */
#include "cause.h"

#include "core/demand/finding.h"

static const struct {
    const char *id; /* NULL: of the finding above */
    unsigned asks;
} rows[] = {
#define FINDING(name, id, severity, title) {id, 0},
#define REPAIR(asks) {NULL, asks},
#include "core/demand/findings.def"
};

bool asks(const struct wc_finding_record *f, unsigned asked) {
    bool is_of_it = false;

    WC_EACH_ROW(row, rows)
        if (row->id)
            is_of_it = is_a(f, row->id);
        else if (is_of_it)
            return (row->asks & asked) == asked;
    return false;
}

bool is_a(const struct wc_finding_record *f, const char *id) {
    return wc_str_same(f->id, id);
}

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
