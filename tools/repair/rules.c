/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <string.h>

#include "core/base/base.h"

bool has_rule(const char *id, unsigned rules) {
    static const struct {
        const char *id;
        unsigned rules;
    } rows[] = {
#define RULE(id, rules, why) {id, rules},
#include "rules.def"
    };

    WC_EACH_ROW(row, rows)
        if (wc_str_same(row->id, id))
            return (row->rules & rules) == rules;
    return false;
}

bool is_one_of(const char *ids, const char *id) {
    const size_t n = strlen(id);

    for (; *ids; ids += strcspn(ids, " "), ids += *ids == ' ')
        if (strcspn(ids, " ") == n && strncmp(ids, id, n) == 0)
            return true;
    return false;
}
