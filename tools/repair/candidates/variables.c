/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <string.h>

#include "core/findings/finding.h"

/* Of a list without its i-th element. */
static const char *without(struct finding_of *f, const char *list, const char *separators,
                           size_t i) {
    const char *value = "";

    for (size_t at = 0;; at++) {
        size_t n = strcspn(list, separators);
        if (at != i)
            value = find_format(f, "%s%s%.*s", value, *value ? ":" : "", (int)n, list);
        if (!list[n])
            return value;
        list += n + 1;
    }
}

static size_t elements_of(const char *list, const char *separators) {
    size_t n = 1;

    for (; *list; list++)
        n += strchr(separators, *list) != NULL;
    return n;
}

void find_variables(struct finding_of *f) {
    const char *preload = wc_variable(f->stacks[0], "LD_PRELOAD"); /* without our own library */

    if (f->path) {
        size_t n = elements_of(f->path, ":");
        for (size_t i = 0; n > 1 && i < n; i++)
            find_add(f, find_set_path(without(f, f->path, ":", i)));
        find_add(f, (struct edit){.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"});
    }
    for (size_t i = 0; preload && *preload && i < elements_of(preload, " :"); i++) {
        const char *value = without(f, preload, " :", i);
        find_add(f, *value ? (struct edit){.kind = EDIT_SET, .name = "LD_PRELOAD", .value = value}
                           : (struct edit){.kind = EDIT_UNSET, .name = "LD_PRELOAD"});
    }
    WC_EACH(search, f->s->searches)
        if (search->r.later_path && !wc_str_same(search->r.later_path, f->path ? f->path : ""))
            find_add(f, find_set_path(search->r.later_path));
}

void find_expectations(struct finding_of *f) {
    static const char variable[] = "WHICHCUDNN_EXPECT";
    struct wc_spec spec;

    WC_EACH(d, f->s->demands)
        if (d->r.demand_kind == WC_demand_kind_EXPECTATION && !d->r.built &&
            wc_str_same(d->r.source, variable) && !(wc_spec_read(d->r.spec, &spec) && spec.n))
            find_add(f, (struct edit){.kind = EDIT_UNSET, .name = variable});
}
