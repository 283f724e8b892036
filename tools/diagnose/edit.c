/* SPDX-License-Identifier: Apache-2.0 */
#include "edit.h"

#include "core/base/base.h"

const struct edit_row edit_rows[EDITS] = {
#define EDIT(name, word, action, cost, writes, play, command, sentence)                            \
    {word, WC_ACTION_##action, cost, WRITES_##writes, command, sentence},
#include "edit.def"
};

const struct action_row action_rows[WC_ACTIONS] = {
#define ACTION(name, word, what, never) {word, never},
#include "core/demand/findings.def"
};

bool edit_assumes(const struct edit *e) {
    return e->kind == EDIT_INSTALL
               ? e->target != NULL
               : e->kind == EDIT_PLACE && !e->target && wc_str_same(e->name, "cudnn");
}

bool edit_comes_with(const struct edit *before, const struct edit *e) {
    return before && before->kind == e->kind &&
           (e->kind == EDIT_INSTALL || e->kind == EDIT_REINSTALL) &&
           wc_str_same(before->environment, e->environment);
}

bool edit_is_same(const struct edit *a, const struct edit *b, bool any) {
    return a->kind == b->kind && wc_str_same(a->name, b->name) &&
           wc_str_same(a->environment, b->environment) && wc_str_same(a->path, b->path) &&
           wc_str_same(a->target, b->target) &&
           ((any && (a->kind == EDIT_INSTALL || a->kind == EDIT_SET)) ||
            wc_str_same(a->value, b->value));
}

bool edit_is_variable(const struct edit *e) {
    return e->kind == EDIT_SET || e->kind == EDIT_UNSET;
}

bool edit_is_replaced(const struct edit *e, const struct edit *by) {
    return e->kind == EDIT_DELETE && by->kind == EDIT_LINK && wc_str_same(e->path, by->path);
}

/* What is there from the start is so in each process that the user starts after that. */
enum { COST_OF_PRELOAD = 5 };

int edit_cost(const struct edits *edits) {
    const struct edit *first = edits->p, *last = first + edits->n - 1;
    int cost = 0;

    if ((first->kind == EDIT_DELETE && last->kind == EDIT_LINKS) ||
        (edit_is_replaced(first, last) && !wc_str_find_char(last->target, '/')))
        return 0;
    WC_EACH(e, *edits)
        if (e->kind != EDIT_DELETE || e == last) /* else it makes room for the next */
            cost += e->kind == EDIT_SET && wc_str_same(e->name, "LD_PRELOAD")
                        ? COST_OF_PRELOAD
                        : edit_rows[e->kind].cost;
    return cost;
}
