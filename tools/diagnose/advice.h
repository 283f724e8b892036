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

enum advice_after {
    ADVICE_UNPLAYED,
    ADVICE_PLAYED,  /* so were the copies that are known, and none cures it */
    ADVICE_CONFLICT /* what does removes  what another package requires */
};

/* The finding is one of that stack's. */
struct advice advice_for(const struct wc_stack *s, const struct wc_finding_record *f,
                         enum advice_after after, struct wc_arena *memory);
