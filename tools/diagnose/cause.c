/* SPDX-License-Identifier: Apache-2.0 */
#include "cause.h"

#include "core/base/base.h"

/* clang-format off */
static const struct cause causes[] = {
#define FINDING(name, id, severity, title) {id,
#define REPAIR(makers, asks) makers, asks},
#include "core/demand/findings.def"
};
/* clang-format on */

const struct cause *cause_of(const struct wc_finding_record *f) {
    static const struct cause unknown;

    WC_EACH_ROW(row, causes)
        if (is_a(f, row->id))
            return row;
    return &unknown;
}

bool asks(const struct wc_finding_record *f, unsigned asked) {
    return (cause_of(f)->asks & asked) == asked;
}

bool is_a(const struct wc_finding_record *f, const char *id) {
    return wc_str_same(f->id, id);
}
