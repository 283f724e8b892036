/* SPDX-License-Identifier: Apache-2.0 */
#include "making.h"
#include "tools/repair/rules.h"

static const struct {
    void (*make)(struct making *m);
    const char *asked_by;
} makers[] = {
#define MAKER(name, asked_by, what) {make_##name, asked_by},
#include "makers.def"
};

static bool asks(const struct wc_findings *findings, const char *asked_by) {
    return WC_ANY(f, *findings, is_one_of(asked_by, f->id));
}

void candidates_make(struct candidates *c, struct replay *r, const struct outcome *base,
                     const struct wc_findings *findings) {
    struct making m = {.out = c,
                       .files = &r->library_cache.disk.files,
                       .libraries = &r->library_cache,
                       .s = &base->source->stack,
                       .stacks = {&base->source->stack, &r->source->stack},
                       .base = base,
                       .path = wc_variable(&base->source->stack, "LD_LIBRARY_PATH")};

    WC_EACH_ROW(row, makers)
        if (!*row->asked_by || asks(findings, row->asked_by))
            row->make(&m);
}
