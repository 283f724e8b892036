/* SPDX-License-Identifier: Apache-2.0 */
#include "cause.h"

#include "core/base/base.h"

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
