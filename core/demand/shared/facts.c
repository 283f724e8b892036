/* SPDX-License-Identifier: Apache-2.0 */
#include "core/demand/facts.h"

#include "core/base/base.h"

const struct wc_fact_row wc_fact_rows[WC_FACT_ROLES] = {
    [WC_FACT_OTHER] = {NULL, NULL, RANK_OTHER, PLAIN, 1, NULL},
#define FACT(role, name, key, rank, how, most, source)                                             \
    [WC_FACT_##role] = {name, key, RANK_##rank, how, most, source},
#include "core/demand/facts.def"
};

enum wc_fact_role wc_fact_role_named(const char *name) {
    for (enum wc_fact_role role = WC_FACT_OTHER + 1; role < WC_FACT_ROLES; role++)
        if (wc_str_same(wc_fact_rows[role].name, name))
            return role;
    return WC_FACT_OTHER;
}

enum wc_fact_role wc_fact_role_of(const struct wc_facts *facts, const struct wc_fact *fact) {
    return facts->typed ? facts->typed[fact - facts->p].role : wc_fact_role_named(fact->name);
}

static const struct wc_fact *first_of(const struct wc_finding_record *f, enum wc_fact_role role) {
    return WC_FIRST(fact, f->facts, wc_fact_role_of(&f->facts, fact) == role);
}

const char *wc_fact_value(const struct wc_finding_record *f, enum wc_fact_role role) {
    const struct wc_fact *fact = first_of(f, role);

    return fact ? fact->value : NULL;
}

const char *wc_fact_path(const struct wc_finding_record *f, enum wc_fact_role role) {
    const struct wc_fact *fact = first_of(f, role);
    const char *path = !fact            ? NULL
                       : f->facts.typed ? f->facts.typed[fact - f->facts.p].path
                                        : fact->value;

    return path && *path == '/' ? path : NULL;
}
