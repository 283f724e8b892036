/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "beyond.h"
#include "command.h"
#include "core/base/shown.h"
#include "core/findings/finding.h"

static const enum wc_action actions[] = {
#define EDIT(name, word, action, cost, what) WC_ACTION_##action,
#include "edit.def"
};

/* What has to go first is not what it is about. */
static int weight_of(const struct edit *e) {
    return e->kind == EDIT_REMOVE ? 0 : edit_cost(&(struct edits){e, 1});
}

static const char *action_of(const struct edits *edits) {
    const struct edit *most = NULL;

    WC_EACH(edit, *edits)
        if (!most || weight_of(edit) > weight_of(most))
            most = edit;
    return most ? action_word(actions[most->kind]) : NULL;
}

static const char *keep(struct plan *plan, const char *text) {
    return text ? wc_arena_string(&plan->memory.arena, text) : NULL;
}

/* Who starts the process with another value than `run` gave the command; NULL: nobody, or not
 * known. */
static const char *setter_of(const struct source *source, const char *variable) {
    static const struct {
        const char *name, *given;
    } known[] = {{"LD_LIBRARY_PATH", "WHICHCUDNN_RUN_LD_LIBRARY_PATH"},
                 {"LD_PRELOAD", "WHICHCUDNN_RUN_LD_PRELOAD"}};
    const struct wc_stack *s = &source->stack;
    const struct wc_process_record *process = &s->process;

    if (process->run_pid == WC_NULL)
        return NULL;
    if (!wc_variable(s, "WHICHCUDNN_RUN_LD_PRELOAD"))
        return "the command"; /* which empties the environment: `env -` */
    WC_EACH_ROW(row, known)
        if (wc_str_same(row->name, variable) &&
            !wc_str_same(wc_variable(s, row->given), wc_variable(s, variable)))
            return source->pid != process->run_pid && process->parent_name ? process->parent_name
                                                                           : "the command";
    return NULL;
}

/* source: whose variables they may change. */
static struct edits keep_edits(struct plan *plan, const struct candidate *c,
                               const struct source *source) {
    struct edit *kept = wc_arena_take(&plan->memory.arena, c->n * sizeof(*kept));

    for (size_t i = 0; kept && i < c->n; i++) {
        const struct edit *e = &c->edit[i];
        kept[i] = (struct edit){.kind = e->kind,
                                .name = keep(plan, e->name),
                                .value = keep(plan, e->value),
                                .path = keep(plan, e->path),
                                .target = keep(plan, e->target),
                                .environment = keep(plan, e->environment)};
        if (source && (e->kind == EDIT_SET || e->kind == EDIT_UNSET))
            kept[i].by = keep(plan, setter_of(source, e->name));
    }
    return (struct edits){kept, kept ? c->n : 0};
}

static void find_given(struct plan *plan, const struct played *x, const struct wc_finding_record *f,
                       const struct wc_stack *of_f, struct repair *r) {
    const struct wc_stack *s = &x->outcome.source->stack;
    const struct wc_object *facade = cures_facade_of(s, cures_path_of(of_f, f->host));
    const char *path = facade ? wc_real_path_of(facade) : NULL;
    struct wc_runtime runtime;
    char text[WC_VERSION_TEXT];

    if (!path)
        return;
    runtime = wc_runtime_of(s, facade);
    runtime.range.low.build = -1;
    r->gives = wc_arena_format(&plan->memory.arena, "%s%s",
                               runtime.range.exact ? wc_version_format(runtime.range.low, text)
                                                   : "a cuDNN",
                               runtime.range.exact && cures_is_set(&x->edits) ? " or newer" : "");
    r->from = wc_arena_string_n(&plan->memory.arena, path, wc_dir_length(path));
}

/* Why a fix of that kind is never played; NULL: it may be. */
static const char *why_never(enum wc_action action) {
    static const struct {
        enum wc_action action;
        const char *why;
    } never[] = {
        {WC_ACTION_DRIVER, "a driver is no matter of files that could be replayed"},
        {WC_ACTION_UPGRADE_HOST, "what another release of the host asks for is not in its files"},
        {WC_ACTION_ALLOW, "what the system allows is not to be seen in files"},
        {WC_ACTION_RESTART, "the process itself would have to be started again"},
        {WC_ACTION_CHECK, "it asks to look, and changes nothing"},
    };

    WC_EACH_ROW(row, never)
        if (row->action == action)
            return row->why;
    return NULL;
}

void plan_add_other_host(struct plan *plan, struct plan_of_finding *of, const struct wc_stack *s,
                         const struct wc_finding_record *f) {
    struct candidate other = {.n = 1};
    struct repair *r = &of->p[of->n];

    if (!beyond_host(&plan->memory.arena, s, f, &other.edit[0]))
        return;
    of->n++;
    *r = (struct repair){.edits = keep_edits(plan, &other, NULL), .checked = REPAIR_NOT_CHECKED};
    r->action = action_of(&r->edits);
    r->text = text_of(&plan->memory.arena, &r->edits);
    r->why = why_never(WC_ACTION_UPGRADE_HOST);
}

void plan_advise(struct plan *plan, struct plan_of_finding *of, const struct wc_stack *s,
                 const struct wc_finding_record *f, const char *why, bool played) {
    struct advice advice = advice_for(s, f, played, &plan->memory.arena);
    struct candidate said = {.n = 1};
    bool edit = beyond_edit(&plan->memory.arena, s, f, advice.action, advice.text, &said.edit[0]);

    of->p[of->n++] =
        (struct repair){.edits = edit ? keep_edits(plan, &said, NULL) : (struct edits){NULL, 0},
                        .action = action_word(advice.action),
                        .text = advice.text,
                        .checked = REPAIR_NOT_CHECKED,
                        .why = keep(plan, why_never(advice.action) ?: why)};
    plan_add_other_host(plan, of, s, f);
}

/* Whoever is asked to type it: no rights to an environment are no reason to look for another way
 * out, but a command of its package manager would fail, or install somewhere else. */
static bool may_type(struct planning *p, const struct candidate *c) {
    const bool image = p->replay.library_cache.disk.root[0];

    for (size_t i = 0; i < c->n && !image; i++) {
        const char *environment = c->edit[i].environment;
        if (environment && strcmp(environment, "/") != 0 &&
            cures_is_refused(p, &c->edit[i], EACCES))
            return false;
    }
    return true;
}

void plan_add_repair(struct planning *p, struct plan_of_finding *of, const struct played *x,
                     const struct wc_finding_record *f) {
    struct plan *plan = p->plan;
    struct repair *r = &of->p[of->n++];
    *r = (struct repair){.edits = keep_edits(plan, &x->edits, p->source),
                         .checked = REPAIR_REPLAYED};
    r->action = action_of(&r->edits);
    r->text = text_of(&plan->memory.arena, &r->edits);
    if (may_type(p, &x->edits))
        r->command = command_of(
            &plan->memory.arena, &r->edits,
            &(struct user){.files = &p->replay.library_cache.disk.files, .path = getenv("PATH")});
    find_given(plan, x, f, &p->source->stack, r);
}

const char *repair_checked_word(enum repair_checked checked) {
    static const char *const words[] = {"no", "replayed", "tried"};

    return words[checked];
}

char *repair_outcome(const struct repair *r, size_t columns) {
    OWNED char *gives = r->gives ? must_format(": gives %s from ", r->gives) : NULL;
    const char *word = repair_checked_word(r->checked);
    const size_t used = gives ? strlen(word) + wc_columns(gives) : 0;
    char *room, *all;
    struct wc_text from;

    if (r->checked == REPAIR_NOT_CHECKED)
        return must_format("not checked: %s", r->why ? r->why : "nobody asked");
    if (!gives || !r->from)
        return must_copy(word);
    if (!columns)
        return must_format("%s%s%s", word, gives, r->from);
    room = must_allocate(strlen(r->from) + 1);
    wc_text_begin(&from, room, strlen(r->from) + 1);
    wc_text_add_shortened(&from, r->from, columns > used ? columns - used : 0);
    all = must_format("%s%s%s", word, gives, room);
    free(room);
    return all;
}
