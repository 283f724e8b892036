/* SPDX-License-Identifier: Apache-2.0 */
#include "fix_rows.h"

#include <string.h>

#include "core/demand/finding_page.h"
#include "tools/diagnose/plan.h"

enum { FIXES = 3, COMMAND_LINES = 8 };

/* Below what was played stands what that gave, below what was not the reason why. */
static void put_fix(struct wc_finding_page *page, const struct repair *fix, const char *key) {
    OWNED char *outcome = repair_outcome(fix, WC_PAGE_VALUE - 1);
    const char *command = fix->command ? wc_page_keep(page, "%s", fix->command) : NULL;
    const bool first = key[0] != ' ';
    bool whole = command && strlen(command) < sizeof(page->raw) - 1 &&
                 wc_page_lines(command, WC_PAGE_KEYS, true) <= COMMAND_LINES;
    struct wc_finding_row *row =
        wc_page_add_row(page, key, RANK_FIX,
                        whole ? command
                              : wc_page_keep(page, "%s%s", fix->text ? fix->text : "?",
                                             command ? " (its command: report -v)" : ""));

    if (!row)
        return;
    row->command = whole;
    row->most = whole ? COMMAND_LINES : 4;
    row->weight = first ? RANK_GOT : RANK_FOUND;
    if ((whole || fix->why || fix->but) &&
        (row = wc_page_add_row(page, "", RANK_FIX, wc_page_keep(page, "%s", outcome)))) {
        row->most = 2;
        row->weight = first ? RANK_GOT : RANK_MIND;
    }
}

void put_fix_rows(struct wc_finding_page *page, const void *fixes) {
    const struct plan_of_finding *of = fixes;
    const char *label = NULL;

    for (size_t i = 0; i < of->n && i < FIXES; i++) {
        const bool again = wc_str_same(repair_label(&of->p[i]), label);
        label = repair_label(&of->p[i]);
        put_fix(page, &of->p[i], again ? " or" : label);
    }
}
