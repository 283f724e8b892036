/* SPDX-License-Identifier: Apache-2.0 */
#include "making.h"

/* In this order. Liberal: most of what they make is of no use, which the replay shows. */
static void (*const makers[])(struct making *m) = {
    make_cached,         make_without_element, make_cleaned,      make_unsplit,
    make_no_expectation, make_path_to_copy,    make_package_anew, make_releases,
    make_missing,        make_readable,        make_reached,      make_order,
    make_opened,         make_by_hand,         make_preload,      make_roots,
};

void candidates_make(struct candidates *c, struct replay *r, const struct outcome *base,
                     struct proposal *proposal) {
    struct making m = {.out = c,
                       .view = {c->memory, &r->library_cache->disk.files},
                       .libraries = r->library_cache,
                       .sites = &r->sites,
                       .s = &base->source->stack,
                       .stacks = {&base->source->stack, &r->source->stack},
                       .base = base,
                       .proposal = proposal,
                       .path = wc_variable(&base->source->stack, "LD_LIBRARY_PATH")};

    WC_EACH_ROW(make, makers)
        (*make)(&m);
    if (proposal)
        make_proposed(&m);
}
