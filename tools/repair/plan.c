/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advice.h"
#include "beyond.h"
#include "candidates/candidates.h"
#include "candidates/places.h"
#include "command.h"
#include "core/base/shown.h"
#include "core/findings/finding.h"
#include "core/findings/finding_text.h"
#include "rules.h"
#include "wheel_table.h"

#define REPAIRS_MOST 3
#define PAIRS_MOST 24

struct played {
    struct candidate edits;
    struct outcome outcome;
    struct outcome newest; /* of a set, with its newest release; all zero: it was not played */
    bool harmless;         /* what worked still works, with both */
    struct left {          /* of what is found, by the files alone */
        size_t errors, warnings;
        size_t of_end;   /* errors, were it to end as it did */
        size_t pins;     /* of packages, that what comes in is none of */
        size_t suspects; /* notes of what a variable has: the next run would advise again */
    } left;
};

struct planning {
    struct plan *plan;
    const struct source *source;
    const struct wc_findings *findings;
    struct replay replay;
    struct outcome base;
    struct candidates candidates;
    struct played *played;
    size_t n;
    const char *why; /* nothing can be played; NULL: it can */
    char *directory; /* where a command would be typed */
};

/* ---- is it the same finding? ---- */

static const char *path_of(const struct wc_stack *s, int64_t object) {
    const struct wc_object *o = object == WC_NULL ? NULL : wc_stack_object(s, object);

    return o ? wc_path_of(o) : NULL;
}

/* However a path is spelt. */
static const char *file_of(const struct wc_stack *s, int64_t object) {
    const struct wc_object *o = object == WC_NULL ? NULL : wc_stack_object(s, object);

    return o ? wc_real_path_of(o) : NULL;
}

/* A function, and not all of a version: of the finding's own facts. */
static bool lacks_function(const struct wc_finding_record *f) {
    return has_rule(f->id, LACK) &&
           (WC_ANY(fact, f->facts, wc_str_same(fact->name, "wanted function")) ||
            !WC_ANY(fact, f->facts, wc_str_same(fact->name, "wanted symbol version")));
}

static bool is_same_id(const struct wc_finding_record *a, const struct wc_finding_record *b) {
    return wc_str_same(a->id, b->id) || (has_rule(a->id, MIXTURE) && has_rule(b->id, MIXTURE)) ||
           (lacks_function(a) && lacks_function(b));
}

/* About the same host, or, where none is known, the same library; what the hosts of both are told
 * apart by. */
static bool is_same(const struct wc_finding_record *a, const struct wc_stack *of_a,
                    const struct wc_finding_record *b, const struct wc_stack *of_b) {
    const char *x = file_of(of_a, a->host), *y = file_of(of_b, b->host);

    if (!is_same_id(a, b))
        return false;
    if (x && y)
        return strcmp(x, y) == 0;
    x = file_of(of_a, a->object);
    y = file_of(of_b, b->object);
    return !x || !y || wc_str_same(x, y);
}

/* What is found in an outcome: of itself, or were it to end as the process did. */
static const struct wc_findings *found_in(const struct outcome *o, bool of_end) {
    return of_end ? &o->of_end : &o->findings;
}

static const struct wc_finding_record *find_in(const struct outcome *o, bool of_end,
                                               const struct wc_finding_record *f,
                                               const struct wc_stack *of_f) {
    return WC_FIRST(known, *found_in(o, of_end), is_same(known, &o->source->stack, f, of_f));
}

/* ---- does it cure? ---- */

/* What failed in the process worked in none of the replays. */
static bool is_harmless(const struct planning *p, const struct outcome *o) {
    if ((p->base.starts && !o->starts) || o->torn > p->base.torn)
        return false;
    for (size_t i = 0; i < p->replay.n; i++)
        if (!p->replay.requests[i].failure && p->base.got[i].files && !o->got[i].files)
            return false;
    return true;
}

/* What the system refuses it refuses to new files of the same kind, too, which none of them shows,
 * whichever finding it is that is told with it. */
static bool is_beyond_files(const struct planning *p, const struct candidate *c,
                            const struct wc_finding_record *f) {
    bool files = false;

    for (size_t i = 0; i < c->n; i++)
        files = files || c->edit[i].kind == EDIT_INSTALL || c->edit[i].kind == EDIT_REINSTALL ||
                c->edit[i].kind == EDIT_PLACE || c->edit[i].kind == EDIT_RESTORE;
    return files && (has_rule(f->id, NO_FILES) ||
                     WC_ANY(known, p->base.findings,
                            has_rule(known->id, NO_FILES) && known->severity >= f->severity));
}

/* The directory that an edit writes to; NULL: to none, or that is not known. */
static const char *written_by(struct planning *p, const struct edit *e) {
    switch (e->kind) {
    case EDIT_INSTALL:
    case EDIT_REINSTALL:
    case EDIT_REMOVE:
        return e->environment;
    case EDIT_PLACE:
    case EDIT_RESTORE:
    case EDIT_LINKS:
        return e->path;
    case EDIT_LINK:
    case EDIT_DELETE:
        return wc_arena_format(p->candidates.memory, "%.*s", (int)wc_dir_length(e->path), e->path);
    case EDIT_MODE:
        return e->path;
    default:
        return NULL;
    }
}

/* The system does not let this user write there, for that reason. */
static bool is_refused(struct planning *p, const struct edit *e, int reason) {
    const char *root = p->replay.library_cache.disk.root, *path = written_by(p, e);

    return path && path[0] == '/' &&
           access(wc_arena_format(p->candidates.memory, "%s%s", root, path), W_OK) != 0 &&
           errno == reason;
}

/* On a file system that nobody writes to, whatever rights he has. */
static bool is_read_only(struct planning *p, const struct candidate *c) {
    for (size_t i = 0; i < c->n; i++)
        if (is_refused(p, &c->edit[i], EROFS))
            return true;
    return false;
}

/* What was built for a newer system than this one is so in its package, too; which other release is
 * not, nobody knows. A part alone may be somebody else's. Nor is it known what a single library of
 * CUDA wants of those beside which it is put. */
static bool wants_unknown(const struct candidate *c, const struct wc_finding_record *f) {
    const struct wc_fact *refused = WC_FIRST(one, f->facts, wc_str_same(one->name, "refused"));
    const struct wc_fact *library = WC_FIRST(one, f->facts, wc_str_same(one->name, "library"));

    const char *file = library ? library->value : NULL;
    bool again = false;

    if (has_rule(f->id, OTHER_RELEASE) && c->edit[0].kind == EDIT_PLACE &&
        wc_name_kind_of(c->edit[0].name) == WC_NAME_CUDA_DEPENDENCY)
        return true;
    for (size_t i = 0; i < c->n; i++)
        again = again || c->edit[i].kind == EDIT_REINSTALL || c->edit[i].kind == EDIT_INSTALL ||
                (c->edit[i].kind == EDIT_RESTORE && refused &&
                 wc_name_kind_of(refused->value) == WC_NAME_FACADE);
    return again && has_rule(f->id, OTHER_RELEASE) && refused && file &&
           wc_kind_is_cudnn(wc_name_kind_of(refused->value)) &&
           wc_name_kind_of(file) == WC_NAME_OTHER;
}

/* For which CUDA such an edit brings cuDNN anew, without what it needs; -1: not said. */
static int32_t cuda_anew(const struct edit *e) {
    const int32_t named = e->name ? wc_cuda_in_package(e->name) : -1;

    if (e->target && wc_is_digit(e->target[0]))
        return (int32_t)strtol(e->target, NULL, 10);
    return named > 0 || !e->value ? named : wc_cuda_in_package(e->value);
}

/* What a library of cuDNN's needs of other makers, and what stands in no table, it still needs when
 * it is put there anew; and of CUDA, where it is for the same. */
static bool needs_the_same(const struct candidate *c, const struct wc_finding_record *f) {
    const struct wc_fact *missing = WC_FIRST(one, f->facts, wc_str_same(one->name, "missing"));
    const char *name = missing && has_rule(f->id, OWN_NEEDS) ? missing->value : NULL;

    for (size_t i = 0; name && i < c->n; i++) {
        const struct edit *e = &c->edit[i];
        const bool anew = e->kind == EDIT_REINSTALL || e->kind == EDIT_RESTORE ||
                          (e->kind == EDIT_PLACE && wc_str_same(e->name, "cudnn"));
        if ((anew || e->kind == EDIT_INSTALL) && !wheel_cudnn_needs(name))
            return true;
        if (anew && wc_name_cuda(name) > 0 && wc_name_cuda(name) == cuda_anew(e))
            return true;
    }
    return false;
}

/* ---- what a path variable loses ---- */

static bool is_other_library(void *found, const char *name) {
    *(bool *)found = strstr(name, ".so") && !wc_kind_is_ours(wc_name_kind_of(name));
    return !*(bool *)found;
}

static bool has_element(const char *list, const char *element, size_t n) {
    for (; list && *list; list += strcspn(list, ":"), list += *list == ':')
        if (strcspn(list, ":") == n && strncmp(list, element, n) == 0)
            return true;
    return false;
}

/* Each entry of the directories of LD_LIBRARY_PATH that are not among those of `left`, until
 * *found. */
static void list_lost(const struct planning *p, const char *left,
                      bool (*each)(void *ctx, const char *name), void *ctx, const bool *found) {
    const struct wc_files *files = &p->replay.library_cache.disk.files;
    const char *list = wc_variable(&p->base.source->stack, "LD_LIBRARY_PATH");

    for (; list && *list && !*found; list += strcspn(list, ":"), list += *list == ':') {
        const size_t n = strcspn(list, ":");
        OWNED char *directory = must_format("%.*s", (int)n, list);
        if (!has_element(left, list, n))
            files->list(files->ctx, directory, each, ctx);
    }
}

/* A directory that has more than CUDA's libraries may serve what was not seen. */
static bool loses_others(const struct planning *p, const struct candidate *c) {
    bool others = false;

    if (c->n != 1 || (c->edit[0].kind != EDIT_SET && c->edit[0].kind != EDIT_UNSET) ||
        !wc_str_same(c->edit[0].name, "LD_LIBRARY_PATH"))
        return false;
    list_lost(p, c->edit[0].value, is_other_library, &others, &others);
    return others;
}

struct lost {
    const struct wc_stack *s; /* what comes in without the directory */
    int32_t cuda;             /* of the process; -1: not known */
    bool found;
};

static bool is_lost(void *lost, const char *name) {
    struct lost *l = lost;
    const int32_t cuda = wc_name_cuda(name);

    l->found = wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && cuda > 0 &&
               (l->cuda < 0 || cuda == l->cuda) && !wc_mapped_as(l->s, name);
    return !l->found;
}

/* A process that has not come to its first call on a GPU has not asked for all of CUDA yet: what
 * lies in a directory that the path loses, and does not come in from elsewhere, it may be about to
 * ask for. */
static bool loses_cuda(const struct planning *p, const struct played *x) {
    const struct wc_stack *s = &p->source->stack;
    struct lost lost = {&x->outcome.source->stack, -1, false};

    if (p->source->type == SOURCE_SCAN || WC_ANY(call, s->calls, wc_wants_gpu(call->r.function)))
        return false;
    lost.cuda = wc_cuda_of_dependencies(lost.s);
    list_lost(p, wc_variable(lost.s, "LD_LIBRARY_PATH"), is_lost, &lost, &lost.found);
    return lost.found;
}

/* Of a list of paths: an element that the other list has not. */
static bool has_more(const char *list, const char *other) {
    for (; list && *list; list += strcspn(list, ":"), list += *list == ':')
        if (!has_element(other, list, strcspn(list, ":")))
            return true;
    return false;
}

/* To silence a note nothing is put into a variable, which counts for all else that is started. */
static bool adds_to_variable(const struct planning *p, const struct candidate *c) {
    for (size_t i = 0; i < c->n; i++)
        if (c->edit[i].kind == EDIT_SET &&
            has_more(c->edit[i].value, wc_variable(&p->base.source->stack, c->edit[i].name)))
            return true;
    return false;
}

/* The same libraries come in for the same requests: a finding less, and nothing else. */
static bool changes_nothing(const struct planning *p, const struct played *x) {
    const struct wc_stack *before = &p->base.source->stack, *s = &x->outcome.source->stack;

    for (size_t i = 0; i < p->replay.n; i++)
        if (p->base.got[i].files != x->outcome.got[i].files)
            return false;
    return before->failures.n == s->failures.n && before->objects.n == s->objects.n &&
           !WC_ANY(o, s->objects,
                   !WC_ANY(was, before->objects,
                           was->r.inode == o->r.inode && was->r.device == o->r.device &&
                               wc_str_same(was->r.asked_by, o->r.asked_by)));
}

/* What was asked of whichcudnn itself is of no weight for the process. */
static bool takes_back(const struct candidate *c) {
    return c->n == 1 && c->edit[0].kind == EDIT_UNSET &&
           wc_str_starts(c->edit[0].name, "WHICHCUDNN_");
}

/* To take a package away that is in nobody's way, or that lacks something, hides what is wrong. */
static bool removes_unused(const struct planning *p, const struct candidate *c,
                           const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->base.source->stack;

    if (c->n != 1 || c->edit[0].kind != EDIT_REMOVE)
        return false;
    return has_rule(f->id, PACKAGE_STAYS) ||
           !WC_ANY(o, s->objects, o->r.mapped && wc_str_same(o->r.installation, c->edit[0].name));
}

static bool is_variables_alone(const struct candidate *c) {
    for (size_t i = 0; i < c->n; i++)
        if (c->edit[i].kind != EDIT_SET && c->edit[i].kind != EDIT_UNSET)
            return false;
    return true;
}

/* Of the facade's own package, or of one of which nothing came in. */
static bool lacks_own_file(const struct planning *p, const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->source->stack, *replayed = &p->base.source->stack;
    const struct wc_object *o = f->object == WC_NULL ? NULL : wc_stack_object(s, f->object);

    WC_EACH(known, p->base.findings) {
        const struct wc_object *of =
            known->object == WC_NULL ? NULL : wc_stack_object(replayed, known->object);
        if (has_rule(known->id, NO_VARIABLE | PACKAGE_STAYS) &&
            (!o || !of || wc_same_installation(o, of)))
            return true;
    }
    return false;
}

/* What a package lacks no variable brings: another copy may be of another release. */
static bool leaves_installation(const struct planning *p, const struct candidate *c,
                                const struct wc_finding_record *f) {
    return is_variables_alone(c) &&
           (has_rule(f->id, NO_VARIABLE) || (has_rule(f->id, TORN) && lacks_own_file(p, f)));
}

/* Who was built with the facade that is there refuses an older one: of a mixed set it is the parts
 * that a variable has to bring. */
static bool takes_older(const struct planning *p, const struct played *x,
                        const struct wc_finding_record *f) {
    const struct wc_object *had =
        WC_FIRST(o, p->base.source->stack.objects, o->r.role == WC_role_FACADE);
    const struct wc_object *gets =
        WC_FIRST(o, x->outcome.source->stack.objects, o->r.role == WC_role_FACADE);

    return has_rule(f->id, TORN) && is_variables_alone(&x->edits) && had && gets &&
           wc_version_known(wc_own_range(had).low) && wc_version_known(wc_own_range(gets).high) &&
           wc_version_compare(wc_own_range(gets).high, wc_own_range(had).low) < 0;
}

static bool is_by_hand(const struct candidate *c) {
    return c->edit[0].kind == EDIT_PLACE || c->edit[0].kind == EDIT_RESTORE;
}

/* What cuDNN asked for by a name without a number: it takes whatever CUDA is found first. */
static const struct wc_object *found_first(const struct wc_stack *s) {
    return WC_FIRST(o, s->objects,
                    o->r.mapped && o->r.role == WC_role_CUDA_DEPENDENCY && o->r.asked_name &&
                        wc_str_ends(o->r.asked_name, ".so") &&
                        wc_is_cudnn(wc_object_of(s, o->r.asked_by_object, o->r.asked_by)));
}

static bool is_answered(const struct planning *p, const struct outcome *o, const char *name) {
    for (size_t i = 0; i < p->replay.n; i++)
        if (strcmp(p->replay.requests[i].name, name) == 0 && o->got[i].files)
            return true;
    return false;
}

/* The very same cuDNN is made for the same CUDA then, and so is the same release for that CUDA, put
 * there anew. */
static bool keeps_cuda(const struct planning *p, const struct played *x,
                       const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->source->stack, *then = &x->outcome.source->stack;
    const struct wc_object *facade = f->object == WC_NULL ? NULL : wc_stack_object(s, f->object);
    const char *file = facade ? wc_real_path_of(facade) : NULL;
    const int32_t cuda = facade ? wc_cuda_of_set(s, facade).major : -1;
    const struct wc_object *before = found_first(s);

    if (!has_rule(f->id, OTHER_LIBRARY) || !file)
        return false;
    if (is_by_hand(&x->edits))
        return x->edits.edit[0].target && strtol(x->edits.edit[0].target, NULL, 10) == cuda;
    if (!is_variables_alone(&x->edits) ||
        !WC_ANY(o, then->objects, wc_str_same(wc_real_path_of(o), file)))
        return false;
    return cuda <= 0 || !before || wc_cuda_of(before) == cuda ||
           !is_answered(p, &x->outcome, before->r.asked_name) ||
           WC_ANY(o, then->objects, wc_cuda_of(o) > 0 && wc_cuda_of(o) != cuda);
}

/* To take a file away that was asked for is of use where another one comes in for it. */
static bool removes_wanted(const struct planning *p, const struct played *x) {
    const struct edit *e = &x->edits.edit[0];
    const char *name = e->kind == EDIT_DELETE ? wc_base_name(e->path) : NULL;
    const struct wc_stack *s = &p->source->stack;

    if (!name || x->edits.n > 1)
        return false;
    return (WC_ANY(f, s->failures, f->r.name && strcmp(wc_base_name(f->r.name), name) == 0) ||
            WC_ANY(o, s->objects, wc_has_path(o, e->path))) &&
           !WC_ANY(o, x->outcome.source->stack.objects, o->r.mapped && wc_answers_to(o, name));
}

static bool was_as_bad(const struct planning *p, const struct outcome *o, bool of_end,
                       const struct wc_finding_record *f) {
    const struct wc_finding_record *was = find_in(&p->base, of_end, f, &o->source->stack);

    return was && was->severity >= f->severity;
}

/* Nothing that is as bad may be there that was not there before. That now the other one of two
 * copies stands in front is no more than a note. */
static bool brings(const struct planning *p, const struct played *x, const struct outcome *o,
                   bool of_end, enum wc_severity severity) {
    const bool order = x->edits.edit[0].kind == EDIT_IMPORT_FIRST;

    return WC_ANY(f, *found_in(o, of_end),
                  f->severity >= severity && !(order && has_rule(f->id, ANY_ORDER)) &&
                      !(has_rule(f->id, OTHER_COPY) && f->severity == WC_severity_NOTE) &&
                      !was_as_bad(p, o, of_end, f));
}

/* What is told of a program that fails alone counts, too: it may go on to fail. */
static bool brings_never(const struct planning *p, const struct outcome *o) {
    for (int of_end = 0; of_end < 2; of_end++)
        if (WC_ANY(f, *found_in(o, of_end),
                   has_rule(f->id, NEVER_NEW) && !find_in(&p->base, of_end, f, &o->source->stack)))
            return true;
    return false;
}

/* The same for another library, or of it put anew under another path, is no cure either: as bad as
 * the replay had it, which knows less of how it ended than the process. But of two copies one
 * always stands before the other. */
static bool is_gone(const struct planning *p, const struct outcome *o, bool of_end,
                    const struct wc_finding_record *f) {
    const struct wc_stack *of_f = &p->source->stack;
    const struct wc_finding_record *was = find_in(&p->base, of_end, f, of_f);
    const enum wc_severity least = was && was->severity < f->severity ? was->severity : f->severity;

    return !find_in(o, of_end, f, of_f) &&
           !WC_ANY(known, *found_in(o, of_end),
                   !has_rule(f->id, OTHER_COPY) && wc_str_same(known->id, f->id) &&
                       known->severity >= least && !known->explained_by && f->host == WC_NULL);
}

/* Does the replay show it, if only with the process's own end? */
static bool is_shown(const struct planning *p, const struct wc_finding_record *f, bool *of_end) {
    const struct wc_stack *s = &p->source->stack;

    if (!p->base.source)
        return false;
    *of_end = !find_in(&p->base, false, f, s);
    return !*of_end || find_in(&p->base, true, f, s);
}

/* ---- what a mere note may change ---- */

static bool is_of(const struct wc_object *o, const struct wc_name *name) {
    const struct wc_name own = wc_name_read(wc_base_name(wc_path_of(o) ?: ""));

    return o->r.mapped && own.kind == name->kind && wc_str_same(own.part, name->part);
}

/* Not by another name either. */
static bool is_in_vain(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_name asked = wc_name_read(f->r.name ? wc_base_name(f->r.name) : "");

    return wc_is_load(f) && wc_kind_is_ours(asked.kind) && !WC_ANY(o, s->objects, is_of(o, &asked));
}

/* It, or the command that it was of, did not end well, or, where nobody says how it ended, a call
 * failed or something was asked for in vain. */
static bool has_failed(const struct planning *p) {
    const struct wc_stack *s = &p->source->stack;

    if (s->has_outcome || s->command_ended)
        return wc_ended_badly(s);
    return wc_a_call_failed(s) || WC_ANY(f, s->failures, is_in_vain(s, f));
}

/* Of two copies the one that a process lives with is the one that it wants; of one that failed it
 * may be the other. */
static bool takes_other(const struct planning *p, const struct played *x,
                        const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->source->stack;
    const struct wc_object *had = f->object == WC_NULL ? NULL : wc_stack_object(s, f->object);
    const struct wc_candidate *other = had ? wc_candidate_of(s, wc_search_of(s, had), NULL) : NULL;

    return has_failed(p) && other && other->r.path &&
           WC_ANY(o, x->outcome.source->stack.objects,
                  o->r.role == WC_role_FACADE && wc_str_same(wc_path_of(o), other->r.path));
}

/* The one that the finding has in a fact. */
static bool takes_own(const struct played *x, const struct wc_finding_record *f) {
    const struct wc_fact *has =
        WC_FIRST(one, f->facts, wc_str_same(one->name, "its environment has"));
    const char *end = has && has->value ? strstr(has->value, "  ") : NULL;
    const size_t n = end ? (size_t)(end - has->value) : 0;

    return n &&
           WC_ANY(o, x->outcome.source->stack.objects,
                  o->r.role == WC_role_FACADE && (wc_lies_in(wc_path_of(o), has->value, n) ||
                                                  wc_lies_in(wc_real_path_of(o), has->value, n)));
}

/* Whoever names a file there means that file, wherever a search leads. */
static bool is_preloaded(const struct wc_stack *s, int64_t object) {
    return object != WC_NULL &&
           WC_ANY(search, s->searches,
                  search->r.object == object && search->r.rule == WC_search_rule_PRELOAD);
}

static bool suits_note(const struct planning *p, const struct played *x,
                       const struct wc_finding_record *f) {
    const enum edit_kind first = x->edits.edit[0].kind;

    if (has_rule(f->id, OTHER_COPY))
        return takes_other(p, x, f);
    if (loses_others(p, &x->edits) ||
        (first == EDIT_SET && is_preloaded(&p->source->stack, f->object)))
        return false;
    if (has_rule(f->id, OWN_COPY)) /* as it is */
        return x->edits.n == 1 && (first == EDIT_SET || first == EDIT_UNSET) &&
               !changes_nothing(p, x);
    if (!has_failed(p))
        return changes_nothing(p, x) && !adds_to_variable(p, &x->edits);
    return !changes_nothing(p, x);
}

/* Of two packages that have put their files at one path the one whose release comes in is that with
 * which the process failed. */
static bool keeps_failed(const struct planning *p, const struct played *x,
                         const struct wc_finding_record *f) {
    const struct wc_object *had =
        WC_FIRST(o, p->base.source->stack.objects, o->r.role == WC_role_FACADE);
    const struct wc_object *gets =
        WC_FIRST(o, x->outcome.source->stack.objects, o->r.role == WC_role_FACADE);

    return has_rule(f->id, OTHER_OF_TWO) && x->edits.n > 1 &&
           x->edits.edit[0].kind == EDIT_REMOVE && has_failed(p) && had && gets &&
           wc_version_known(wc_own_range(had).low) &&
           wc_version_compare(wc_own_range(had).low, wc_own_range(gets).low) == 0;
}

/* ---- all that is asked of one ---- */

static size_t count(const struct wc_findings *findings, enum wc_severity severity) {
    size_t n = 0;

    WC_EACH(f, *findings)
        n += f->severity == severity;
    return n;
}

/* The facade that a host gets then; of no host the first. */
static const struct wc_object *facade_of(const struct wc_stack *s, const char *host) {
    WC_EACH(b, s->bindings) {
        const struct wc_object *o = wc_object_of(s, b->r.target, b->r.target_path);
        if (o && o->r.role == WC_role_FACADE && (!host || wc_str_same(b->r.host_path, host)))
            return o;
    }
    return WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE);
}

/* A newer release than a package requires may work, and is what its next installation replaces. */
static size_t count_pins(const struct wc_stack *s) {
    size_t n = 0;

    WC_EACH(d, s->demands) {
        const struct wc_object *facade = facade_of(s, d->r.host_path);
        struct wc_spec pin;
        n += d->r.demand_kind == WC_demand_kind_REQUIRED && facade && d->r.spec &&
             wc_spec_read(d->r.spec, &pin) &&
             wc_spec_accepts(&pin, wc_runtime_of(s, facade).range.low) == WC_NO;
    }
    return n;
}

static struct left left_by(const struct outcome *o) {
    struct left left = {.errors = count(&o->findings, WC_severity_ERROR),
                        .warnings = count(&o->findings, WC_severity_WARNING),
                        .pins = count_pins(&o->source->stack)};

    WC_EACH(f, o->of_end)
        left.of_end += f->severity == WC_severity_ERROR && !has_rule(f->id, OF_CALLS);
    WC_EACH(f, o->findings)
        left.suspects += f->severity == WC_severity_NOTE &&
                         (has_rule(f->id, VARIABLES_ALONE) || has_rule(f->id, OWN_COPY));
    return left;
}

/* What comes in is known to have code for the GPUs. */
static bool has_gpu_code(const struct outcome *o) {
    const struct wc_stack *s = &o->source->stack;

    return !WC_ANY(facade, s->objects,
                   facade->r.role == WC_role_FACADE &&
                       !candidates_has_gpu_code(s, wc_runtime_of(s, facade).range.low));
}

/* What explains it is repaired, too. */
static bool leaves_cause(const struct planning *p, const struct outcome *o, bool of_end,
                         const struct wc_finding_record *f) {
    return WC_ANY(cause, *p->findings,
                  f->explained_by && wc_str_same(cause->id, f->explained_by) &&
                      find_in(o, of_end, cause, &p->source->stack));
}

static bool is_cured(const struct planning *p, const struct played *x, const struct outcome *o,
                     bool of_end, const struct wc_finding_record *f) {
    return is_gone(p, o, of_end, f) && !leaves_cause(p, o, of_end, f) &&
           !brings(p, x, o, of_end, f->severity) && !brings_never(p, o) &&
           (!has_rule(f->id, KNOWN_FOR_GPU) || has_gpu_code(o));
}

static bool cures(const struct planning *p, const struct played *x,
                  const struct wc_finding_record *f, bool of_end) {
    if (!x->harmless || (f->severity < WC_severity_ERROR && x->left.errors + x->left.of_end > 0))
        return false;
    if (f->severity >= WC_severity_WARNING ? changes_nothing(p, x) && !takes_back(&x->edits)
                                           : !suits_note(p, x, f))
        return false;
    if (has_rule(f->id, OWN_COPY) && !takes_own(x, f))
        return false;
    if (has_rule(f->id, VARIABLES_ALONE) && !is_variables_alone(&x->edits))
        return false;
    return !is_beyond_files(p, &x->edits, f) && !wants_unknown(&x->edits, f) &&
           !needs_the_same(&x->edits, f) && !removes_unused(p, &x->edits, f) &&
           !leaves_installation(p, &x->edits, f) && !keeps_cuda(p, x, f) && !loses_cuda(p, x) &&
           !takes_older(p, x, f) && !removes_wanted(p, x) && !keeps_failed(p, x, f) &&
           is_cured(p, x, &x->outcome, of_end, f) &&
           (!x->newest.source || is_cured(p, x, &x->newest, of_end, f));
}

/* By what they leave; above 0: a leaves more. */
static int compare_left(const struct played *a, const struct played *b) {
    if (a->left.errors != b->left.errors)
        return WC_ORDER(a->left.errors, b->left.errors);
    if (a->left.of_end != b->left.of_end)
        return WC_ORDER(a->left.of_end, b->left.of_end);
    if (a->left.warnings != b->left.warnings)
        return WC_ORDER(a->left.warnings, b->left.warnings);
    if (a->left.pins != b->left.pins)
        return WC_ORDER(a->left.pins, b->left.pins);
    return WC_ORDER(a->left.suspects, b->left.suspects);
}

/* ---- what is played ---- */

/* Of a set the oldest is played, and the newest that is known. */
static bool is_set(const struct candidate *c) {
    const struct edit *e = &c->edit[0];

    return is_by_hand(c) && e->value && !wc_str_starts(e->value, "==");
}

/* Whoever does it by hand takes any release of the set. */
static void play_newest(struct planning *p, struct played *x) {
    struct candidate newest = x->edits;
    struct edit *e = &newest.edit[0];
    const char *cuda = e->target ? e->target : "12";
    const char *package = wc_arena_format(p->candidates.memory, "nvidia-cudnn-cu%s", cuda);
    const char *release = is_set(&x->edits) ? wheel_newest(package, e->value) : NULL;

    if (!release)
        return;
    e->value = wc_arena_format(p->candidates.memory, "==%s", release);
    replay_play(&p->replay, &(struct edits){newest.edit, newest.n}, &x->newest);
    if (!x->newest.why)
        x->harmless = x->harmless && is_harmless(p, &x->newest);
}

static const struct played *play(struct planning *p, const struct candidate *edits) {
    const struct edits list = {edits->edit, edits->n};
    struct played *x = MUST_ADD(p->played, p->n);

    *x = (struct played){.edits = *edits};
    replay_play(&p->replay, &list, &x->outcome);
    if (x->outcome.why)
        return x;
    x->harmless = is_harmless(p, &x->outcome);
    if (x->harmless)
        play_newest(p, x);
    x->left = left_by(&x->outcome);
    return x;
}

static void play_all(struct planning *p, size_t edits) {
    for (size_t i = 0; i < p->candidates.n; i++)
        if (p->candidates.p[i].n == edits && !is_read_only(p, &p->candidates.p[i]))
            play(p, &p->candidates.p[i]);
}

/* ---- repairs ---- */

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
    const struct wc_object *facade = facade_of(s, path_of(of_f, f->host));
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
                               runtime.range.exact && is_set(&x->edits) ? " or newer" : "");
    r->from = wc_arena_string_n(&plan->memory.arena, path, wc_dir_length(path));
}

static int cost_of(const struct candidate *c) {
    return edit_cost(&(struct edits){c->edit, c->n}) * 4 + (int)c->n;
}

static bool is_better(const struct played *x, const struct played *best) {
    int left = best ? compare_left(x, best) : -1;

    return left < 0 || (left == 0 && cost_of(&x->edits) < cost_of(&best->edits));
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
    if (is_by_hand(taken) && is_by_hand(c) && wc_str_same(taken->edit[0].name, c->edit[0].name))
        return wc_str_same(taken->edit[0].path, c->edit[0].path);
    for (size_t i = 0; i < taken->n; i++)
        if (!has_step(c, &taken->edit[i]))
            return false;
    return true;
}

/* Of those that leave the least the cheapest that is not taken yet. */
static const struct played *next_cure(const struct planning *p, const struct wc_finding_record *f,
                                      bool of_end, const struct played *const *taken, size_t n) {
    const struct played *best = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct played *x = &p->played[i];
        bool again = x->outcome.why != NULL || (n > 0 && taken[0] && compare_left(x, taken[0]) > 0);
        for (size_t k = 0; k < n; k++)
            again = again || (taken[k] && is_same_way(&taken[k]->edits, &x->edits));
        if (!again && is_better(x, best) && cures(p, x, f, of_end))
            best = x;
    }
    return best;
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

/* The other way out, where a library would have to be put there by hand, or nobody knows how. */
static void add_other_host(struct plan *plan, struct plan_of_finding *of, const struct wc_stack *s,
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

/* What usually repairs such a finding, without a command: nobody has played it. */
static void advise(struct plan *plan, struct plan_of_finding *of, const struct wc_stack *s,
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
    add_other_host(plan, of, s, f);
}

/* Whoever is asked to type it: no rights to an environment are no reason to look for another way
 * out, but a command of its package manager would fail, or install somewhere else. */
static bool may_type(struct planning *p, const struct candidate *c) {
    const bool image = p->replay.library_cache.disk.root[0];

    for (size_t i = 0; i < c->n && !image; i++) {
        const char *environment = c->edit[i].environment;
        if (environment && strcmp(environment, "/") != 0 && is_refused(p, &c->edit[i], EACCES))
            return false;
    }
    return true;
}

static void add_repair(struct planning *p, struct plan_of_finding *of, const struct played *x,
                       const struct wc_finding_record *f) {
    struct plan *plan = p->plan;
    struct repair *r = &of->p[of->n++];

    *r = (struct repair){.edits = keep_edits(plan, &x->edits, p->source),
                         .checked = REPAIR_REPLAYED};
    r->action = action_of(&r->edits);
    r->text = text_of(&plan->memory.arena, &r->edits);
    if (may_type(p, &x->edits))
        r->command = command_of(&plan->memory.arena, &r->edits,
                                &(struct user){.files = &p->replay.library_cache.disk.files,
                                               .path = getenv("PATH"),
                                               .directory = p->directory});
    find_given(plan, x, f, &p->source->stack, r);
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
    if (!is_shown(p, f, &of_end)) {
        advise(p->plan, of, &p->source->stack, f,
               p->why ? p->why : "the replay of its requests does not show it", false);
        return;
    }
    while (of->n < REPAIRS_MOST && (taken[of->n] = next_cure(p, f, of_end, taken, of->n)))
        add_repair(p, of, taken[of->n], f);
    if (taken[0] && of->n < REPAIRS_MOST && is_by_hand(&taken[0]->edits))
        add_other_host(p->plan, of, &p->source->stack, f);
    if (of->n == 0)
        advise(p->plan, of, &p->source->stack, f, unplayed, true);
}

/* Nothing better can come of more edits. */
static bool all_cured(const struct planning *p) {
    bool of_end;

    WC_EACH(f, *p->findings) {
        const struct played *best =
            is_shown(p, f, &of_end) ? next_cure(p, f, of_end, NULL, 0) : NULL;
        if (is_shown(p, f, &of_end) &&
            (!best || is_by_hand(&best->edits) || best->left.errors + best->left.warnings > 0))
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
    play_all(p, 1);
    if (!all_cured(p))
        play_all(p, 2);
}

void plan_make(struct plan *plan, const struct source *source, const struct wc_findings *findings) {
    struct planning p = {.plan = plan, .source = source, .findings = findings};
    struct heap_arena memory; /* of the candidates */

    if (!begin(plan, findings) || plan->n == 0)
        return;
    heap_arena_begin(&memory);
    p.candidates.memory = &memory.arena;
    p.directory = getcwd(NULL, 0);
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
    free(p.directory);
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
            advise(plan, &plan->of[i], &source->stack, &findings->p[i], why, false);
}

void plan_end(struct plan *plan) {
    heap_arena_end(&plan->memory);
}

/* ---- what is known of one ---- */

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
