/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advice.h"
#include "cause.h"
#include "causes/driver.h"
#include "command.h"
#include "core/base/shown.h"
#include "core/demand/questions.h"
#include "core/knowledge/programs.h"
#include "entries.h"
#include "judge.h"
#include "setter.h"
#include "tools/util/disk.h"
#include "tools/util/terminal.h"
#include "wheels.h"

/* In what is printed. */
#define format(p, ...) wc_arena_format(&(p)->plan->memory.arena, __VA_ARGS__)

enum { REPAIRS_MOST = 3, REJECTED_MOST = 8, SCRIPT_BYTES = 64 << 10 };
enum { STEPS_MOST = 6, PLAYS_MOST = 400, FAULTS_MOST = 1000 };

/* ---- which users may write ---- */

/* Where an edit writes to and the system does not let this user, for that reason, an errno; NULL:
 * nowhere. */
static const char *refused_at(struct planning *p, const struct candidate *c, int reason) {
    const char *root = p->replay.library_cache->disk.root;

    WC_EACH(e, *c) {
        const char *environment = e->environment;
        const bool counts = /* apt is started by sudo; a mode is its owner's */
            reason != EACCES || !(wc_str_same(environment, "/") || e->kind == EDIT_MODE);
        const enum edit_writes to = edit_rows[e->kind].writes;
        const char *path = to == WRITES_SITE   ? environment
                           : to == WRITES_PATH ? e->path
                           : to == WRITES_PARENT
                               ? view_directory((struct view){p->candidates.memory, NULL}, e->path)
                           : to == WRITES_ETC ? "/etc"
                                              : NULL;
        if (counts && path && path[0] == '/' &&
            access(wc_arena_format(p->candidates.memory, "%s%s", root, path), W_OK) != 0 &&
            errno == reason)
            return path;
    }
    return NULL;
}

/* ---- what is played ---- */

/* A user that copies files takes any release of the set: with the newest, too, all must be
 * as good as with the oldest, which was played (world base_tag_without_cudnn). */
static bool newest_does(struct planning *p, const struct played *x) {
    struct played newest = {.edits = x->edits};
    struct edit *e = &newest.edits.p[0];
    const char *package =
        wc_arena_format(p->candidates.memory, "nvidia-cudnn-cu%s", e->target ?: "12");
    const char *release = candidate_is_set(&x->edits) ? wheel_newest(package, e->value) : NULL;
    bool does;

    if (!release)
        return true;
    e->value = wc_arena_format(p->candidates.memory, "==%s", release);
    replay_play(&p->replay, &(struct edits){newest.edits.p, newest.edits.n}, &newest.outcome);
    if (!newest.outcome.why)
        judge_weigh(p, &newest);
    does = newest.outcome.why || (judge_is_harmless(&p->replay, &p->base, &newest.outcome, false) &&
                                  judge_compare_left(&newest, x) <= 0);
    outcome_end(&newest.outcome);
    return does;
}

/* A module whose library the interpreter, or the program around it, opens has it as soon as it is
 * imported. What ctypes or its own code opens may come with the first use. NULL: neither does. */
static const char *opens_later(const struct planning *p, const struct played *x) {
    const char *module = x->edits.p[0].name;

    return x->edits.p[0].kind == EDIT_IMPORT_FIRST &&
                   (WC_ANY(q, p->replay.requests,
                           replay_lies_in_module(q->caller, module) && wc_name_is_cudnn(q->name)) ||
                    WC_ANY(o, p->source->stack.objects,
                           replay_lies_in_module(wc_path_of(o), module) && wc_wants_cudnn(o) &&
                               o->r.asked_how == WC_operation_DLOPEN &&
                               !wc_str_same(o->r.asked_by, p->source->stack.process.executable) &&
                               !wc_program_is(o->r.asked_by, WC_PROGRAM_PYTHON)))
               ? format(p, "whether %s loads its cuDNN when it is imported is not known", module)
               : NULL;
}

/* What the user gives, so that a launcher makes such a value of it; NULL: none does. */
static const char *given_for(const struct wc_stack *s, const struct edit *e) {
    const char *value = wc_variable(s, e->name);
    const char *given =
        wc_str_same(e->name, "LD_LIBRARY_PATH") && e->value ? candidates_given_part(s) : NULL;
    const size_t n = given ? (size_t)(given - value) : 0;

    return n && strncmp(e->value, value, n) == 0 && (e->value[n] == ':' || (*given && e->value[n]))
               ? e->value + n + (e->value[n] == ':')
               : NULL;
}

static struct setter setter_for(struct wc_arena *memory, const struct source *source,
                                const struct edit *e) {
    const struct setter by = setter_of(memory, &source->stack, source->pid, e->name);

    return by.change || !given_for(&source->stack, e) ? by : (struct setter){NULL, NULL, NULL};
}

/* What a script that could not be read gives the program; NULL: it is known, or a line that sets it
 * is, which is changed. */
static const char *set_by_script(const struct planning *p, const struct played *x) {
    const struct wc_stack *s = &p->source->stack;

    WC_EACH(e, x->edits)
        if (wc_variable(s, "WHICHCUDNN_RUN_UNSURE") && edit_is_variable(e) &&
            setter_is_named(p->candidates.memory, s, e->name) &&
            !setter_of(p->candidates.memory, s, p->source->pid, e->name).file)
            return format(p, "what %s the script gives the program is not known", e->name);
    return NULL;
}

/* What is more than one level below a closed directory may be closed, too; NULL: it is open. */
static const char *closed_below(const struct planning *p, const struct played *x) {
    const struct edit *e = &x->edits.p[0];
    struct stat file, directory;

    WC_EACH_ELEMENT(one, e->kind == EDIT_MODE ? e->target : NULL, ":") {
        OWNED char *path = must_format("%.*s", (int)one.n, one.p);
        OWNED char *in = must_format("%.*s", (int)wc_dir_length(path), path);
        if (!wc_str_same(in, e->path) &&
            (stat(path, &file) != 0 || stat(in, &directory) != 0 || !(file.st_mode & S_IROTH) ||
             !(directory.st_mode & S_IXOTH)))
            return format(p, "what is below %s cannot be seen, and may be closed, too", e->path);
    }
    return NULL;
}

/* A library that is no longer preloaded, and lacked what it needs: a plug-in, say, without which
 * the program does not do its work (isarsoft/yolov4-triton-tensorrt#16). NULL: there is none. */
static const char *drops_plugin(const struct planning *p, const struct played *x) {
    const struct wc_stack *s = &p->source->stack;
    const struct edit *e = &x->edits.p[0];
    const char *had =
        edit_is_variable(e) && wc_str_same(e->name, "LD_PRELOAD") ? wc_variable(s, e->name) : NULL;
    const struct wc_failure *lacking =
        WC_FIRST(f, s->failures,
                 had && f->r.operation == WC_operation_NEEDED && f->r.caller &&
                     strstr(had, f->r.caller) && !strstr(e->value ?: "", f->r.caller));

    return lacking ? format(p, "whether the program needs %s is not known",
                            wc_base_name(lacking->r.caller))
                   : NULL;
}

/* Those that reach another program: a variable does where both have had the same of it. */
static struct edits reaching(const struct planning *p, const struct played *x,
                             const struct other *other) {
    struct edit *all = wc_arena_take(p->candidates.memory, x->edits.n * sizeof(*all));
    struct edits edits = {all, 0};

    WC_EACH(e, x->edits)
        if (!edit_is_variable(e) ||
            (!x->alone && wc_str_same(wc_variable(&p->source->stack, e->name),
                                      wc_variable(&other->replay.source->stack, e->name))))
            all[edits.n++] = *e;
    return edits;
}

/* How many findings another program has that are of a kind that this one has, too. */
static size_t shared_with(const struct planning *p, const struct outcome *of_other) {
    size_t n = 0;

    WC_EACH(f, of_other->findings)
        n += f->severity >= WC_severity_WARNING &&
             WC_ANY(own, *p->findings,
                    own->severity >= WC_severity_WARNING && wc_str_same(own->id, f->id));
    return n;
}

/* Whether the other programs of the command, which get those edits as well, still do what they did,
 * and which faults they share with this one then. */
static bool spares_others(struct planning *p, struct played *x) {
    bool spares = true;

    x->left.beside = 0;
    x->beside = NULL;
    for (size_t i = 0; spares && i < p->others_n; i++) {
        struct other *other = &p->others[i];
        const struct edits edits = reaching(p, x, other);
        struct outcome outcome = {.why = "nothing reaches it"};
        if (edits.n > 0)
            replay_play(&other->replay, &edits, &outcome);
        spares = outcome.why || (judge_errors(&outcome) <= judge_errors(&other->base) &&
                                 judge_is_harmless(&other->replay, &other->base, &outcome, false));
        const size_t shared = shared_with(p, outcome.why ? &other->base : &outcome);
        x->left.beside += shared;
        x->beside = shared ? wc_base_name(source_program(other->replay.source)) : x->beside;
        outcome_end(&outcome);
    }
    return spares;
}

/* A variable that others need as it is can be set on the line that starts this program. */
static void play_beside(struct planning *p, struct played *x) {
    const struct wc_stack *s = &p->source->stack;
    const bool has_variable = WC_ANY(e, x->edits, edit_is_variable(e));
    const bool has_line =
        has_variable &&
        !WC_ANY(e, x->edits,
                edit_is_variable(e) && !setter_of_start(p->candidates.memory, s, e->name).by);

    x->alone = has_line &&
               !WC_ANY(e, x->edits,
                       edit_is_variable(e) && setter_for(p->candidates.memory, p->source, e).by);
    x->harmless = spares_others(p, x);
    if (x->harmless || !has_variable || x->alone)
        return;
    x->alone = true;
    x->by_hand = !has_line;
    x->harmless = spares_others(p, x);
}

static void play(struct planning *p, const struct candidate *edits) {
    const struct edits list = {edits->p, edits->n};
    struct played *x = MUST_ADD(p->played.p, p->played.n);

    *x = (struct played){.edits = *edits};
    replay_play(&p->replay, &list, &x->outcome);
    if (x->outcome.why)
        return;
    x->unsure = opens_later(p, x) ?: set_by_script(p, x) ?: closed_below(p, x);
    x->plugin = edits->p[0].kind == EDIT_OPEN ? edits->p[0].because : drops_plugin(p, x);
    WC_EACH(q, p->replay.requests)
        if (!x->plugin && q->gone && replay_got_by(&p->replay, &x->outcome, q)->files)
            x->plugin = format(p, "%s is gone, and may need more", q->gone);
    judge_weigh(p, x);
    x->harmless = judge_is_harmless(&p->replay, &p->base, &x->outcome,
                                    !WC_ANY(e, list, !edit_is_variable(e))) &&
                  newest_does(p, x);
    if (x->harmless && x->outcome.changes && p->others_n > 0)
        play_beside(p, x);
    WC_EACH(e, list)
        if (edit_is_variable(e) && x->harmless && x->outcome.changes && !x->alone) {
            const struct setter by = setter_for(p->candidates.memory, p->source, e);
            x->by_hand = x->by_hand || (by.by && !by.change);
        }
}

/* Those of one edit, or those of more. */
static void play_all(struct planning *p, bool more) {
    for (size_t i = 0; i < p->candidates.n; i++) {
        const struct candidate *c = &p->candidates.p[i];
        const char *read_only = refused_at(p, c, EROFS);
        if ((c->n == 1 || edit_cost(&(struct edits){c->p, c->n}) == 0) != more && !read_only)
            play(p, c);
        if (c->p[0].environment && read_only)
            p->read_only = read_only;
    }
}

static bool is_apart(const struct candidate *c) {
    return c->p[0].kind == EDIT_INSTALL && c->p[0].path;
}

/* Keeping what is in the search path costs less; a wheel in a folder of its own leaves the
 * environment as it is, and what may not repair comes last. A line that a user has to change by
 * hand comes after a link and before a copy. */
static int cost_of(const struct played *x) {
    const struct candidate *c = &x->edits;

    return edit_cost(&(struct edits){c->p, c->n}) * 8 + (c->n > 1 ? 4 : 2) + x->loses +
           (x->takes_over ? 8 : 0) + (is_apart(c) ? 40 : 0) + (x->by_hand ? 44 : 0) +
           (x->unsure || x->plugin ? 100 : 0);
}

/* Other releases of the same packages, or in the same directory, are not another way out, nor is
 * one that does more. */
static bool is_same_way(const struct candidate *taken, const struct candidate *c) {
    if (taken->p[0].environment && c->p[0].environment && (is_apart(taken) || is_apart(c)))
        return true; /* packages in the environment, or next to it */
    if (candidate_is_by_hand(taken) && candidate_is_by_hand(c) &&
        wc_str_same(taken->p[0].name, c->p[0].name))
        return wc_str_same(taken->p[0].path, c->p[0].path);
    return !WC_ANY(step, *taken, !WC_ANY(e, *c, edit_is_same(e, step, true)));
}

/* Of those that leave the least the cheapest that is not taken yet: of several steps only where no
 * other one is a repair. */
static const struct played *next_cure(const struct planning *p, const struct wc_finding_record *f,
                                      const struct played *const *taken, size_t n) {
    const struct played *best = NULL;

    WC_EACH(x, p->played) {
        if (x->outcome.why || (n > 0 && judge_compare_left(x, taken[0]) > 0) ||
            (x->steps && ((best && !best->steps) || (n > 0 && !taken[0]->steps))) ||
            WC_ANY(one, WC_ITEMS(taken, n), is_same_way(&(*one)->edits, &x->edits)))
            continue;
        const int left = best ? judge_compare_left(x, best) : -1;
        if ((left < 0 || (left == 0 && cost_of(x) < cost_of(best))) && !judge(p, x, f))
            best = x;
    }
    return best;
}

/* ---- what is reported of it ---- */

/* What has to go first is not what it is about. */
static int weight_of(const struct edit *e) {
    return e->kind == EDIT_REMOVE ? 0 : edit_cost(&(struct edits){e, 1});
}

static const char *action_of(const struct edits *edits) {
    const struct edit *most = NULL;

    WC_EACH(edit, *edits)
        if (!most || weight_of(edit) > weight_of(most))
            most = edit;
    return most ? action_rows[edit_rows[most->kind].action].word : NULL;
}

/* What the command installs before each start is changed where it says so. */
static bool has_pin(struct plan *plan, const struct edit *e, const struct source *source,
                    const struct wc_files *files, struct edit *pin) {
    struct wc_arena *memory = &plan->memory.arena;
    const bool installs = e->kind == EDIT_INSTALL && e->environment && e->name;
    const char *there =
        installs ? wheel_installed((struct view){memory, files}, e->environment, e->name, NULL)
                 : NULL;
    const struct setter by = there ? setter_of_pin(memory, &source->stack, e->name, there)
                                   : (struct setter){NULL, NULL, NULL};

    *pin = (struct edit){EDIT_PIN, e->name, e->value, by.file, by.change, .by = by.by};
    return by.by;
}

/* source: whose variables they may change. files: in which releases are installed that a line may
 * ask for; NULL: none is. alone: only for this program of the command. */
static struct edits keep_edits(struct plan *plan, const struct candidate *c,
                               const struct source *source, const struct wc_files *files,
                               bool alone) {
    struct wc_arena *memory = &plan->memory.arena;
    struct edit *kept = wc_arena_take(memory, 2 * c->n * sizeof(*kept));
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++, n++) {
        const struct edit *e = &c->p[i];
        if (files && has_pin(plan, e, source, files, &kept[n]))
            n++;
        kept[n] = *e;
        if (source && edit_is_variable(e)) {
            struct setter by = {NULL, NULL, NULL};
            if (!alone)
                by = setter_for(memory, source, e);
            if (!alone && !by.change && given_for(&source->stack, e))
                kept[n].value = given_for(&source->stack, e);
            if (!by.by && files)
                by = setter_of_start(memory, &source->stack, e->name);
            /* A user's folder is not for all (world site_stands_before_the_bundle). */
            if (by.file && wc_str_starts(by.file, "/etc/") &&
                judge_adds(&source->stack, &kept[n])) {
                const struct setter own = setter_of_program(memory, &source->stack, e->name, NULL);
                by = own.by ? own : (struct setter){by.by, by.file, NULL};
            }
            if (!by.by && alone)
                by.by =
                    wc_arena_format(memory, "the line of %s", wc_base_name(source_program(source)));
            /* A script may need it to be set. To the loader, empty is not set. */
            if (!by.by && e->kind == EDIT_UNSET && wc_str_starts(e->name, "LD_") &&
                setter_is_named(memory, &source->stack, e->name))
                kept[n] = (struct edit){.kind = EDIT_SET, .name = kept[n].name, .value = ""};
            kept[n].by = by.by;
            kept[n].path = by.file;
            kept[n].target = by.change;
        }
    }
    for (struct edit *e = kept; e < kept + n; e++) {
        const char **const texts[] = {&e->name,        &e->value,   &e->path, &e->target,
                                      &e->environment, &e->because, &e->by};
        WC_EACH_ROW(text, texts)
            **text = wc_arena_string(memory, **text);
    }
    return (struct edits){kept, n};
}

/* That kind of a fix, said by a candidate or a sentence; nothing of it was played. */
static struct repair repair_of(struct plan *plan, const struct candidate *c,
                               const struct source *source, const struct wc_files *files,
                               bool alone) {
    struct repair r = {.edits = keep_edits(plan, c, source, files, alone),
                       .checked = REPAIR_NOT_CHECKED};

    r.action = action_of(&r.edits);
    r.text = text_of(&plan->memory.arena, &r.edits);
    return r;
}

/* known: only where its releases are. */
static void add_other_host(struct planning *p, struct plan_of_finding *of,
                           const struct wc_finding_record *f, bool known) {
    struct candidate other = {.n = 1};

    if (!beyond_host(&p->plan->memory.arena, &p->source->stack, f, &other.p[0]) ||
        (known && !*other.p[0].value))
        return;
    of->p[of->n] = repair_of(p->plan, &other, NULL, NULL, false);
    of->p[of->n++].why = action_rows[WC_ACTION_UPGRADE_HOST].never;
}

static void advise(struct planning *p, struct plan_of_finding *of,
                   const struct wc_finding_record *f, const char *why, enum advice_after after) {
    const struct wc_stack *s = &p->source->stack;
    struct wc_arena *memory = &p->plan->memory.arena;
    struct advice advice = advice_for(s, f, after, memory);
    struct candidate said = {.n = 0};
    struct repair *r = &of->p[of->n++];
    const char *never = action_rows[advice.action].never;

    said.n = (advice.action != WC_ACTION_REINSTALL || after == ADVICE_UNPLAYED) &&
             beyond_edit(memory, s, f, p->user.files, advice.action, advice.text, said.p);
    *r = (struct repair){
        .edits = keep_edits(p->plan, &said, NULL, NULL, false),
        .action = action_rows[advice.action].word,
        .text = advice.text,
        .checked = REPAIR_NOT_CHECKED,
        .why = wc_arena_string(memory, after == ADVICE_CONFLICT || !never ? why : never)};
    const bool is_newer = said.n > 0 && said.p[0].kind == EDIT_INSTALL && said.p[0].environment;
    if (p->user.files && said.n > 0 && (is_newer || said.p[0].kind == EDIT_REINSTALL)) {
        r->command = command_of(memory, &r->edits, &p->user);
        if (advice.action == WC_ACTION_INSTALL)
            r->why = format(p, "which %s %s has is not known",
                            is_newer ? "functions a newer" : "files", said.p[0].name);
    }
    const struct site *site = r->command && is_newer
                                  ? site_of(&p->replay.sites, p->user.files, said.p[0].environment)
                                  : NULL;
    const struct wc_version newest = {wc_text_floor(said.p[0].value).major, 999, 999, -1};
    const struct requirement *pin =
        site ? WC_FIRST(q, site->requires,
                        wheel_is_name(q->package, strlen(q->package), said.p[0].name) &&
                            wc_text_accepts(q->spec, newest) != WC_YES)
             : NULL;
    if (pin)
        r->why = wc_arena_format(memory, "%s requires %s, and %s", pin->by, pin->spec, r->why);
    add_other_host(p, of, f, false);
}

/* What the process ended with, for a finding that it had survived, and that fails as before:
 * whether it would do better is not known. NULL: nothing. */
static const char *still_ends(const struct planning *p, const struct played *x,
                              const struct wc_finding_record *f) {
    const struct replay_request *end =
        WC_FIRST(q, p->replay.requests,
                 q->failure && !replay_got_by(&p->replay, &x->outcome, q)->files &&
                     wc_was_the_end(&p->source->stack, q->failure));

    /* Without the hook that needs it (world hook_without_its_driver) the program asks for it. */
    if (is_a(f, "driver-missing") && lacks_driver(&p->source->stack) &&
        !wc_driver_library(&x->outcome.source->stack))
        return "the program itself may need the driver";
    return end && f->severity < WC_severity_ERROR
               ? format(p, "%s, with which the process ended, is still not loaded",
                        wc_base_name(wc_missing_of(end->failure)))
               : NULL;
}

static void add_repair(struct planning *p, struct plan_of_finding *of, const struct played *x,
                       const struct wc_finding_record *f) {
    struct wc_arena *memory = &p->plan->memory.arena;
    struct repair *r = &of->p[of->n++];
    const char *end = still_ends(p, x, f) ?: x->unsure, *lacks;
    *r = repair_of(p->plan, &x->edits, p->source, p->user.files, x->alone);
    WC_EACH(e, x->edits)
        if (!r->why && e->kind == EDIT_INSTALL && edit_assumes(e))
            r->why = format(p, "CUDA %s is assumed: nothing says for which the program was built",
                            e->target);
    r->why = end ?: x->plugin ?: r->why;
    r->checked = r->why ? REPAIR_NOT_CHECKED : REPAIR_REPLAYED;
    /* No rights are not a reason to look for another way out, but a command of a package manager
     * would fail, or install somewhere else. */
    const char *closed =
        p->replay.library_cache->disk.root[0] ? NULL : refused_at(p, &x->edits, EACCES);
    if (!end && !(closed && WC_ANY(e, r->edits, wc_str_compare(e->environment ?: "/", "/") != 0)))
        r->command = command_of(memory, &r->edits, &p->user);
    r->but = wc_arena_string(memory, x->outcome.breaks);
    lacks = r->but ? NULL : command_lacks(memory, &r->edits, &p->user);
    if (lacks && (r->command || *lacks == '/'))
        r->but = format(p, "%s is not %s", lacks, *lacks == '/' ? "there" : "in PATH");
    else if (r->command && !r->but && closed)
        r->but = format(p, "only its owner, or root, may write to %s", closed);
    WC_EACH(e, r->edits)
        if (r->command && !r->but && edit_is_variable(e)) {
            const struct wc_stack *of = &p->source->stack;
            const struct setter own = setter_of_start(memory, of, e->name);
            const char *all = own.by ? NULL : own.file;
            const char *value = wc_variable(of, e->name),
                       *line = setter_at_start(memory, of, e->name, value, e->value).by;
            r->but = wc_str_starts(e->by ? e->path : "", "/etc/")
                         ? "all users of this machine get it, too"
                     : all && (!e->by || p->others_n == 0)
                         ? format(p, "each program that %s starts gets it", all)
                     : e->by ? NULL
                     : line  ? format(p, "%s sets it again", line)
                             : NULL;
        }
    if (r->command && !r->but && x->takes_over)
        r->but = format(p, "all that the program loads or starts gets %s from there, too",
                        x->takes_over);
    if (r->command && !r->but && x->beside)
        r->but = format(p, "%s of the same command still has it", x->beside);
    const struct wc_object *facade = judge_facade(&p->source->stack, x, f);
    const char *path = facade ? wc_real_path_of(facade) : NULL;
    if (!path)
        return;
    struct wc_runtime runtime = wc_runtime_of(&x->outcome.source->stack, facade);
    char text[WC_VERSION_TEXT];
    runtime.range.low.build = -1;
    r->gives = format(p, "%s%s",
                      runtime.range.exact ? wc_version_format(runtime.range.low, text) : "a cuDNN",
                      runtime.range.exact && candidate_is_set(&x->edits) ? " or newer" : "");
    r->from = wc_arena_string_n(memory, path, wc_dir_length(path));
}

/* ---- the plan ---- */

static const char unshown[] = "the replay of its requests does not show it";

static const char *conflict_of(const struct planning *p, const struct played *x) {
    return format(p, "%s: %s", judge_conflict, x->outcome.lacks);
}

/* For --json: people read what to do, not what not to do. Which one another package does not let
 * be a repair; NULL: none. */
static const struct played *add_rejected(struct planning *p, struct plan_of_finding *of,
                                         const struct wc_finding_record *f) {
    struct wc_arena *memory = &p->plan->memory.arena;
    struct rejected *all = wc_arena_take(memory, REJECTED_MOST * sizeof(*all));
    const struct played *conflict = NULL;

    of->rejected.p = all;
    WC_EACH(x, p->played) {
        const char *because =
            of->rejected.n == REJECTED_MOST || x->outcome.why ? NULL : judge(p, x, f);
        if (because == judge_conflict && !conflict)
            conflict = x;
        if (because && because != judge_remains)
            all[of->rejected.n++] = (struct rejected){
                text_of(memory, &(struct edits){x->edits.p, x->edits.n}), because};
    }
    return conflict;
}

/* The program does not start, or what failed fails for another reason: such repairs are not made,
 * but a user's command may delete a host. */
static bool fails_otherwise(const struct planning *p, const struct outcome *o) {
    WC_EACH(q, p->replay.requests) {
        const struct replay_got *was = replay_got_by(&p->replay, &p->base, q),
                                *now = replay_got_by(&p->replay, o, q);
        if (!was->files && !now->files && was->missing != now->missing)
            return true;
    }
    return !o->starts;
}

/* Does the file that sets a variable pass on what it was given? "PATH=/opt:$PATH". */
static bool is_passed_on(struct planning *p, const struct edit *e) {
    OWNED char *text = e->path ? disk_text(e->path, SCRIPT_BYTES, NULL) : NULL;
    const char *plain = wc_arena_format(p->candidates.memory, "$%s", e->name);

    return text && (strstr(text, plain) ||
                    strstr(text, wc_arena_format(p->candidates.memory, "${%s", e->name)));
}

/* f: NULL: whatever is found. */
static struct checked check(struct planning *p, const struct wc_finding_record *f) {
    const struct played *x = p->played.p;
    const char *because = NULL;
    const bool lost = x && !x->outcome.why && !x->harmless;

    if (p->why || (x && x->outcome.why))
        return (struct checked){CHECK_UNKNOWN,
                                wc_arena_string(&p->plan->memory.arena, p->why ?: x->outcome.why)};
    if (!x || !x->outcome.changes)
        return (struct checked){CHECK_NOTHING, x ? x->outcome.idle : p->proposal->idle};
    if (f && judge_is_shown(p, f))
        because = judge(p, x, f);
    else if (f && !lost)
        return (struct checked){CHECK_UNKNOWN, unshown};
    if (lost || because == judge_new || because == judge_conflict ||
        (p->plan->n == 0 && x->left.errors + x->left.warnings > 0))
        return (struct checked){CHECK_BREAKS, lost                        ? judge_lost
                                              : because == judge_conflict ? conflict_of(p, x)
                                              : because ?: judge_new};
    if (f && ((!because && (x->unsure || x->plugin)) || because == judge_later ||
              because == judge_hides))
        return (struct checked){CHECK_UNKNOWN, because ?: x->unsure ?: x->plugin};
    if (because == judge_remains && asks(f, OF_CALLS))
        return (struct checked){CHECK_UNKNOWN, "the files do not show how calls go then"};
    if (!because && fails_otherwise(p, &x->outcome))
        because = "the process fails for another reason then";
    const struct edit *set = WC_FIRST(e, p->plan->read.edits, e->by);
    if (set && (!set->path || is_passed_on(p, set)))
        return (struct checked){CHECK_UNKNOWN, "what a script makes of that variable is unknown"};
    if (set)
        because = "something else sets that variable for the process";
    return (struct checked){f && !because ? CHECK_REPAIRS : CHECK_NOTHING,
                            f ? because : "there is nothing to repair"};
}

/* The package of a refused cuDNN whose releases only its package manager knows. */
static void name_package(struct planning *p, struct repair *r, const struct wc_finding_record *f) {
    const struct wc_object *o = wc_stack_object(&p->source->stack, f->object);
    const bool is_listed = o && (o->r.installation_kind == WC_installation_kind_DEBIAN ||
                                 o->r.installation_kind == WC_installation_kind_CONDA);

    WC_EACH(x, p->played) {
        if (!is_listed || !x->outcome.open ||
            wc_text_accepts(x->edits.p[0].value, o->version) != WC_NO)
            continue;
        *r = repair_of(p->plan, &x->edits, NULL, NULL, false);
        r->why = x->outcome.open;
        return;
    }
}

static void plan_finding(struct planning *p, size_t number) {
    static const char unplayed[] = "no known change removes this finding";
    const struct wc_finding_record *f = &p->findings->p[number];
    struct plan_of_finding *of = &p->plan->of[number];
    const struct played *taken[REPAIRS_MOST] = {NULL};

    of->p = wc_arena_take(&p->plan->memory.arena, REPAIRS_MOST * sizeof(*of->p));
    of->checked = p->proposal ? check(p, f) : of->checked;
    if (p->proposal && of->checked.verdict == CHECK_REPAIRS)
        add_repair(p, of, p->played.p, f);
    if (p->proposal)
        return;
    if (!judge_is_shown(p, f)) {
        advise(p, of, f, p->why ?: unshown, ADVICE_UNPLAYED);
        return;
    }
    while (of->n < REPAIRS_MOST && (taken[of->n] = next_cure(p, f, taken, of->n)))
        add_repair(p, of, taken[of->n], f);
    if (taken[0] && of->n < REPAIRS_MOST &&
        (candidate_is_by_hand(&taken[0]->edits) || is_apart(&taken[0]->edits)))
        add_other_host(p, of, f, is_apart(&taken[0]->edits));
    const struct played *conflict = add_rejected(p, of, f);
    if (of->n > 0)
        return;
    advise(p, of, f,
           conflict       ? conflict_of(p, conflict)
           : p->read_only ? wc_arena_format(p->candidates.memory, "read-only: %s", p->read_only)
                          : unplayed,
           conflict ? ADVICE_CONFLICT : ADVICE_PLAYED);
    if (!conflict && wc_str_same(of->p[0].action, action_rows[WC_ACTION_INSTALL].word))
        name_package(p, &of->p[0], f);
}

/* How many libraries its requests miss; where these are equal, errors and incomplete sets count. */
static size_t missing_in(const struct planning *p, const struct outcome *o) {
    size_t n = 0;

    WC_EACH(q, p->replay.requests) {
        const struct replay_got *got = replay_got_by(&p->replay, o, q);
        n += got->asked && !got->files ? got->to - got->from : 0;
    }
    return n * FAULTS_MOST + judge_errors(o) + o->torn;
}

/* Packages and the search path. Other edits are checked only where they come first. */
static bool is_step(const struct candidate *c) {
    return !WC_ANY(e, *c,
                   !(e->kind == EDIT_INSTALL || e->kind == EDIT_REINSTALL ||
                     (edit_is_variable(e) && wc_str_same(e->name, "LD_LIBRARY_PATH"))));
}

/* Of the candidates played since number `from` the best; NULL: none leaves less than `least`. */
static const struct played *furthest(const struct planning *p, size_t from, size_t least) {
    const struct played *best = NULL;

    for (size_t i = from; i < p->played.n; i++) {
        const struct played *x = &p->played.p[i];
        const size_t n =
            x->outcome.why || !x->outcome.changes || x->outcome.lacks || !is_step(&x->edits)
                ? SIZE_MAX
                : missing_in(p, &x->outcome);
        if (n < least || (best && n == least && cost_of(x) < cost_of(best))) {
            best = x;
            least = n;
        }
    }
    return best;
}

/* Is there a finding without a repair? all: notes count, too, and repairs that are a copy, that
 * break a pin, or that leave errors or warnings. */
static bool is_open(const struct planning *p, bool all) {
    const struct played *best;

    return WC_ANY(f, *p->findings,
                  (all || f->severity >= WC_severity_WARNING) && judge_is_shown(p, f) &&
                      (!(best = next_cure(p, f, NULL, 0)) ||
                       (all && (candidate_is_by_hand(&best->edits) || best->outcome.breaks ||
                                best->left.errors + best->left.warnings > 0))));
}

/* One fault may hide the next: candidates are made for what the best one leaves, and played after
 * it. */
static void play_on(struct planning *p) {
    size_t from = 0, least = missing_in(p, &p->base);
    const struct played *at;

    for (int step = 0; step < STEPS_MOST && is_open(p, false) && (at = furthest(p, from, least));
         step++) {
        const struct played before = *at; /* the list moves */
        struct candidates next = {.memory = p->candidates.memory};
        candidates_make(&next, &p->replay, &before.outcome, NULL);
        least = missing_in(p, &before.outcome);
        from = p->played.n;
        WC_EACH(c, next) {
            struct candidate both = {.n = 0};
            bool may = is_step(c) && before.edits.n + c->n <= CANDIDATE_EDITS;
            WC_EACH(had, before.edits) {
                const struct edit *same = WC_FIRST(e, *c, wc_str_same(e->name, had->name));
                may = may && (!same || edit_is_variable(same)); /* whose last value has all */
                if (!same)
                    both.p[both.n++] = *had;
            }
            for (size_t i = 0; may && i < c->n; i++)
                both.p[both.n++] = c->p[i];
            if (may && p->played.n < PLAYS_MOST && !refused_at(p, &both, EROFS)) {
                play(p, &both);
                p->played.p[p->played.n - 1].steps = true;
            }
        }
        free(next.p);
    }
}

/* As they are without edits. */
static void play_others(struct planning *p) {
    for (size_t i = 0; !p->why && i < p->source->beside.n; i++) {
        struct other *other = &p->others[p->others_n];
        if (replay_begin(&other->replay, p->source->beside.p[i], &other->base)) {
            outcome_end(&other->base);
            replay_end(&other->replay);
        } else {
            p->others_n++;
        }
    }
}

void plan_make(struct plan *plan, const struct source *source, const struct wc_findings *findings,
               const char *command, const char *why) {
    const char *program = source->stack.process.executable;
    struct proposal proposal = {.command = command};
    struct planning p = {.plan = plan,
                         .source = source,
                         .findings = findings,
                         .proposal = command ? &proposal : NULL};
    ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory); /* of the candidates */
    struct stat facts;

    *plan = (struct plan){.memory = HEAP_ARENA(plan->memory), .n = findings->n};
    plan->of = wc_arena_take(&plan->memory.arena, (plan->n + 1) * sizeof(*plan->of));
    if (plan->n == 0 && !command)
        return;
    if (source->user || (source->type <= SOURCE_PROCESS && stat(source->path, &facts) == 0))
        disk_as_user(source->user ?: facts.st_uid);
    p.candidates.memory = &memory.arena;
    p.why = why ?: replay_begin(&p.replay, source, &p.base);
    p.replay.goes_on = command;
    p.user = (struct user){.files = p.why ? NULL : &p.replay.library_cache->disk.files,
                           .path = getenv("PATH"),
                           .python = wc_program_is(program, WC_PROGRAM_PYTHON) ? program : NULL};
    play_others(&p);
    if (!p.why) {
        candidates_make(&p.candidates, &p.replay, &p.base, p.proposal);
        if (!p.proposal) {
            play_all(&p, false);
            if (is_open(&p, true))
                play_all(&p, true);
            play_on(&p);
        }
    }
    if (!p.why && p.proposal) {
        struct repair *read = &plan->read;
        *read = repair_of(plan, &proposal.edits, source, NULL, false);
        read->action = read->action ?: action_rows[WC_ACTION_CHECK].word;
        read->checked = proposal.why ? REPAIR_NOT_CHECKED : REPAIR_REPLAYED;
        p.why = read->why = wc_arena_string(&plan->memory.arena, proposal.why);
        if (!p.why && read->edits.n > 0)
            play(&p, &proposal.edits);
    }
    for (size_t i = 0; i < plan->n; i++)
        plan_finding(&p, i);
    if (command)
        plan->checked = check(&p, NULL);
    for (size_t i = 0; i < p.played.n; i++)
        outcome_end(&p.played.p[i].outcome);
    for (size_t i = 0; i < p.others_n; i++) {
        outcome_end(&p.others[i].base);
        replay_end(&p.others[i].replay);
    }
    outcome_end(&p.base);
    free(p.played.p);
    free(p.candidates.p);
    if (!why)
        replay_end(&p.replay);
    disk_as_self();
}

void plan_end(struct plan *plan) {
    heap_arena_end(&plan->memory);
}

const char *check_word(const struct checked *c) {
    return (const char *const[]){"repairs", "nothing", "breaks", "unknown"}[c->verdict];
}

const char *repair_checked_word(enum repair_checked checked) {
    return (const char *const[]){"no", "replayed", "tried"}[checked];
}

const char *repair_label(const struct repair *r) {
    return r->checked == REPAIR_NOT_CHECKED ? "suggestion" : "fix";
}

char *repair_outcome(const struct repair *r, size_t columns) {
    OWNED char *gives = r->gives ? must_format(": gives %s from ", r->gives) : NULL;
    const char *word = repair_checked_word(r->checked);
    const size_t used = gives ? strlen(word) + wc_columns(gives) : 0;

    if (r->checked == REPAIR_NOT_CHECKED)
        return must_format("not replayed: %s", r->why ?: "not requested");
    OWNED char *from = gives && r->from
                           ? layout_shortened(r->from, !columns         ? SIZE_MAX
                                                       : columns > used ? columns - used
                                                                        : 0)
                           : NULL;
    return must_format("%s%s%s%s%s", word, from ? gives : "", from, r->but ? "; but " : "", r->but);
}
