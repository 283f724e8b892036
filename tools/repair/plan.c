/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_inside.h"

#include <stdlib.h>
#include <unistd.h>

#include "candidates/places.h"
#include "core/findings/finding.h"
#include "rules.h"
#include "wheel_table.h"

#define REPAIRS_MOST 3

/* Whoever does it by hand takes any release of the set. */
static void play_newest(struct planning *p, struct played *x) {
    struct candidate newest = x->edits;
    struct edit *e = &newest.edit[0];
    const char *cuda = e->target ? e->target : "12";
    const char *package = wc_arena_format(p->candidates.memory, "nvidia-cudnn-cu%s", cuda);
    const char *release = cures_is_set(&x->edits) ? wheel_newest(package, e->value) : NULL;

    if (!release)
        return;
    e->value = wc_arena_format(p->candidates.memory, "==%s", release);
    replay_play(&p->replay, &(struct edits){newest.edit, newest.n}, &x->newest);
    if (!x->newest.why)
        x->harmless = x->harmless && cures_is_harmless(p, &x->newest);
}

static void play(struct planning *p, const struct candidate *edits) {
    const struct edits list = {edits->edit, edits->n};
    struct played *x = MUST_ADD(p->played, p->n);

    *x = (struct played){.edits = *edits};
    replay_play(&p->replay, &list, &x->outcome);
    if (x->outcome.why)
        return;
    x->harmless = cures_is_harmless(p, &x->outcome);
    if (x->harmless)
        play_newest(p, x);
    x->left = cures_left_by(&x->outcome);
}

/* Those of one edit, or those of more. */
static void play_all(struct planning *p, bool more) {
    for (size_t i = 0; i < p->candidates.n; i++)
        if ((p->candidates.p[i].n > 1) == more && !cures_is_read_only(p, &p->candidates.p[i]))
            play(p, &p->candidates.p[i]);
}

/* Of two wheels that own the same files the one that a package requires stays. */
static int cost_of(const struct played *x) {
    const struct candidate *c = &x->edits;

    return edit_cost(&(struct edits){c->edit, c->n}) * 8 + (int)c->n * 2 + x->outcome.lacks;
}

static bool is_better(const struct played *x, const struct played *best) {
    int left = best ? cures_compare_left(x, best) : -1;

    return left < 0 || (left == 0 && cost_of(x) < cost_of(best));
}

static bool is_same_step(const struct edit *a, const struct edit *b) {
    return a->kind == b->kind && wc_str_same(a->name, b->name) &&
           wc_str_same(a->environment, b->environment) && wc_str_same(a->path, b->path) &&
           wc_str_same(a->target, b->target) &&
           (a->kind == EDIT_INSTALL || wc_str_same(a->value, b->value));
}

static bool has_step(const struct candidate *c, const struct edit *step) {
    for (size_t i = 0; i < c->n; i++)
        if (is_same_step(&c->edit[i], step))
            return true;
    return false;
}

/* Other releases of the same packages, or in the same directory, are no other way out, nor is one
 * that does more beside. */
static bool is_same_way(const struct candidate *taken, const struct candidate *c) {
    if (cures_is_by_hand(taken) && cures_is_by_hand(c) &&
        wc_str_same(taken->edit[0].name, c->edit[0].name))
        return wc_str_same(taken->edit[0].path, c->edit[0].path);
    for (size_t i = 0; i < taken->n; i++)
        if (!has_step(c, &taken->edit[i]))
            return false;
    return true;
}

/* The directory of the facade that it brings; NULL: of none. */
static const char *brings_from(const struct planning *p, const struct wc_finding_record *f,
                               const struct played *x) {
    const struct wc_object *facade =
        cures_facade_of(&x->outcome.source->stack, cures_path_of(&p->source->stack, f->host));
    const char *path = facade ? wc_real_path_of(facade) : NULL;

    return path ? wc_arena_string_n(p->candidates.memory, path, wc_dir_length(path)) : NULL;
}

/* Where a package manager puts its files nobody puts others by hand. */
static bool is_in_managed(const struct planning *p, const struct wc_finding_record *f,
                          const struct played *taken, const struct played *x) {
    const enum edit_kind kind = taken->edits.edit[0].kind;
    const char *there =
        cures_is_by_hand(&x->edits) && (kind == EDIT_INSTALL || kind == EDIT_REINSTALL)
            ? brings_from(p, f, taken)
            : NULL;

    return there && wc_str_same(there, brings_from(p, f, x));
}

/* Of those that leave the least the cheapest that is not taken yet. */
static const struct played *next_cure(const struct planning *p, const struct wc_finding_record *f,
                                      bool of_end, const struct played *const *taken, size_t n) {
    const struct played *best = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct played *x = &p->played[i];
        bool again =
            x->outcome.why != NULL || (n > 0 && taken[0] && cures_compare_left(x, taken[0]) > 0);
        for (size_t k = 0; k < n; k++)
            again = again || (taken[k] && (is_same_way(&taken[k]->edits, &x->edits) ||
                                           is_in_managed(p, f, taken[k], x)));
        if (!again && is_better(x, best) && cures_finding(p, x, f, of_end))
            best = x;
    }
    return best;
}

static bool begin(struct plan *plan, const struct wc_findings *findings) {
    *plan = (struct plan){.n = findings->n};
    heap_arena_begin(&plan->memory);
    plan->of = wc_arena_take(&plan->memory.arena, (plan->n + 1) * sizeof(*plan->of));
    for (size_t i = 0; plan->of && i < plan->n; i++)
        plan->of[i].p = wc_arena_take(&plan->memory.arena, REPAIRS_MOST * sizeof(*plan->of[i].p));
    return plan->of != NULL;
}

static void plan_finding(struct planning *p, size_t number) {
    static const char unplayed[] = "nothing that was played takes this finding away";
    const struct wc_finding_record *f = &p->findings->p[number];
    struct plan_of_finding *of = &p->plan->of[number];
    const struct played *taken[REPAIRS_MOST] = {NULL};
    bool of_end;

    if (!of->p)
        return;
    if (!cures_is_shown(p, f, &of_end)) {
        plan_advise(p->plan, of, &p->source->stack, f,
                    p->why ? p->why : "the replay of its requests does not show it", false);
        return;
    }
    while (of->n < REPAIRS_MOST && (taken[of->n] = next_cure(p, f, of_end, taken, of->n)))
        plan_add_repair(p, of, taken[of->n], f);
    if (taken[0] && of->n < REPAIRS_MOST && cures_is_by_hand(&taken[0]->edits))
        plan_add_other_host(p->plan, of, &p->source->stack, f);
    if (of->n == 0)
        plan_advise(p->plan, of, &p->source->stack, f, unplayed, true);
}

/* Nothing better can come of more edits. */
static bool all_cured(const struct planning *p) {
    bool of_end;

    WC_EACH(f, *p->findings) {
        const struct played *best =
            cures_is_shown(p, f, &of_end) ? next_cure(p, f, of_end, NULL, 0) : NULL;
        if (cures_is_shown(p, f, &of_end) && (!best || cures_is_by_hand(&best->edits) ||
                                              best->left.errors + best->left.warnings > 0))
            return false;
    }
    return true;
}

static void make(struct planning *p) {
    const struct edits none = {NULL, 0};

    replay_play(&p->replay, &none, &p->base);
    p->why = p->base.why;
    if (p->why)
        return;
    candidates_find(&p->candidates, &p->replay, &p->base);
    places_find(&p->candidates, &p->source->stack, &p->replay.library_cache.disk.files,
                wc_variable(&p->base.source->stack, "LD_PRELOAD"),
                WC_ANY(f, *p->findings, has_rule(f->id, KNOWN_FOR_GPU)));
    play_all(p, false);
    if (!all_cured(p))
        play_all(p, true);
}

void plan_make(struct plan *plan, const struct source *source, const struct wc_findings *findings) {
    struct planning p = {.plan = plan, .source = source, .findings = findings};
    struct heap_arena memory; /* of the candidates */

    if (!begin(plan, findings) || plan->n == 0)
        return;
    heap_arena_begin(&memory);
    p.candidates.memory = &memory.arena;
    p.why = replay_begin(&p.replay, source);
    if (!p.why)
        make(&p);
    for (size_t i = 0; i < plan->n; i++)
        plan_finding(&p, i);
    for (size_t i = 0; i < p.n; i++) {
        outcome_end(&p.played[i].outcome);
        outcome_end(&p.played[i].newest);
    }
    outcome_end(&p.base);
    free(p.played);
    candidates_end(&p.candidates);
    replay_end(&p.replay);
    heap_arena_end(&memory);
}

void plan_without(struct plan *plan, const struct source *source,
                  const struct wc_findings *findings, const char *why) {
    if (!begin(plan, findings))
        return;
    for (size_t i = 0; i < plan->n; i++)
        if (plan->of[i].p)
            plan_advise(plan, &plan->of[i], &source->stack, &findings->p[i], why, false);
}

void plan_end(struct plan *plan) {
    heap_arena_end(&plan->memory);
}
