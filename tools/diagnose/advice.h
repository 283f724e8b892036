/* SPDX-License-Identifier: Apache-2.0 */
/* What usually repairs a finding, for what no edit that was played does: the rows ADVICE of
 * core/demand/findings.def. And edits of what no replay over files shows: another release of the
 * host, the driver, what the system allows, a new start. They are printed, with why they were not
 * checked. */
#pragma once

#include "core/base/files.h"
#include "core/demand/questions.h"
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

/* What a sentence with that action asks for, as an edit; false: nothing is changed by it. files: in
 * which packages are installed; NULL: none is known. */
bool beyond_edit(struct wc_arena *memory, const struct wc_stack *s,
                 const struct wc_finding_record *f, const struct wc_files *files,
                 enum wc_action action, const char *text, struct edit *out);
/* Another release of the host that the finding is about, for the cuDNN that is there; false: it is
 * about none, or that would be no way out. */
bool beyond_host(struct wc_arena *memory, const struct wc_stack *s,
                 const struct wc_finding_record *f, struct edit *out);
