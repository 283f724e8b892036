/* SPDX-License-Identifier: Apache-2.0 */
#include "making.h"
#include "tools/diagnose/cause.h"

static const struct {
    void (*make)(struct making *m);
    enum makers bit;
} makers[] = {
#define MAKER(name, what) {make_##name, MAKE_##name},
#include "makers.def"
};

void candidates_make(struct candidates *c, struct replay *r, const struct outcome *base,
                     const struct wc_findings *findings) {
    struct making m = {.out = c,
                       .files = &r->library_cache.disk.files,
                       .libraries = &r->library_cache,
                       .s = &base->source->stack,
                       .stacks = {&base->source->stack, &r->source->stack},
                       .base = base,
                       .path = wc_variable(&base->source->stack, "LD_LIBRARY_PATH")};
    unsigned asked = EVERY;

    WC_EACH(f, *findings)
        asked |= cause_of(f)->makers;
    WC_EACH_ROW(row, makers)
        if (asked & row->bit)
            row->make(&m);
}
