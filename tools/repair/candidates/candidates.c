/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"
#include "find.h"

#include <stdlib.h>

#include "core/findings/finding.h"

static bool is_found(const struct outcome *o, const char *id) {
    return WC_ANY(f, o->findings, wc_str_same(f->id, id)) ||
           WC_ANY(f, o->of_end, wc_str_same(f->id, id));
}

void candidates_find(struct candidates *c, struct replay *r, const struct outcome *base) {
    struct finding_of f = {.out = c,
                           .files = &r->library_cache.disk.files,
                           .libraries = &r->library_cache,
                           .stacks = {&base->source->stack, &r->source->stack},
                           .for_gpu = is_found(base, "gpu-unsupported"),
                           .for_release = is_found(base, "known-bad-release")};

    for (size_t i = 0; i < 2; i++) {
        f.s = f.stacks[i];
        f.path = wc_variable(f.stacks[0], "LD_LIBRARY_PATH");
        find_variables(&f);
        find_cleaned(&f);
        find_split(&f);
        find_drivers(&f);
        find_expectations(&f);
        find_copies(&f);
        find_packages(&f);
        find_installs(&f);
        find_missing(&f);
        find_functions(&f);
        find_files(&f);
        find_links(&f);
        find_neighbours(&f);
        find_orders(&f);
    }
}

void candidates_end(struct candidates *c) {
    free(c->p);
}
