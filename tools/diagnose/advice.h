/* SPDX-License-Identifier: Apache-2.0 */
/* What usually repairs a finding, for what no edit that was played does: the rows ADVICE of
 * core/demand/findings.def. */
#pragma once

#include "core/demand/diagnose.h"
#include "edit.h"

struct advice {
    enum wc_action action;
    const char *text; /* one sentence, in the arena or a literal */
};

/* The finding is one of that stack's. played: so were the copies that are known, and none cures it.
 */
struct advice advice_for(const struct wc_stack *s, const struct wc_finding_record *f, bool played,
                         struct wc_arena *memory);
