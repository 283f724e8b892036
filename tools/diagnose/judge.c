/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "cause.h"
#include "core/demand/questions.h"
#include "core/packages/identify.h"
#include "wheels.h"

/* ---- which findings are one ---- */

/* However a path is spelt. */
static const char *file_of(const struct wc_stack *s, int64_t object) {
    const struct wc_object *o = wc_stack_object(s, object);

    return o ? wc_real_path_of(o) : NULL;
}

/* A function, and not all of a version. */
static bool lacks_function(const struct wc_finding_record *f) {
    return asks(f, LACK) && (wc_fact_value(f, WC_FACT_WANTED_FUNCTION) ||
                             !wc_fact_value(f, WC_FACT_WANTED_SYMBOL_VERSION));
}

/* Of two requests of one caller, each for a file of its own, one may be left. */
static bool is_other_request(const struct wc_finding_record *a, const struct wc_finding_record *b) {
    const char *one = wc_fact_value(a, WC_FACT_ASKED_FOR);

    return is_a(a, "library-not-found") && one && wc_fact_value(b, WC_FACT_ASKED_FOR) &&
           !WC_ANY(fact, b->facts,
                   wc_fact_role_of(&b->facts, fact) == WC_FACT_ASKED_FOR &&
                       wc_str_same(fact->value, one));
}

/* The library that was missing, or is not a library. */
static const char *missed(const struct wc_finding_record *f) {
    return wc_base_name(is_a(f, "dependency-missing") ? wc_fact_value(f, WC_FACT_MISSING)
                        : is_a(f, "bad-file")         ? wc_fact_value(f, WC_FACT_FILE)
                                                      : NULL);
}

/* About the same package, the same host, or, where none is known, the same library. By the loader's
 * words a link that leads nowhere does not exist. */
static bool is_same(const struct wc_finding_record *a, const struct wc_stack *of_a,
                    const struct wc_finding_record *b, const struct wc_stack *of_b) {
    const char *x = file_of(of_a, a->host), *y = file_of(of_b, b->host),
               *package = wc_fact_value(a, WC_FACT_PACKAGE);

    if (wc_str_same(a->id, b->id) && package &&
        wc_str_same(package, wc_fact_value(b, WC_FACT_PACKAGE)))
        return true;
    if (!wc_str_same(a->id, b->id) && !(asks(a, MIXTURE) && asks(b, MIXTURE)) &&
        !(lacks_function(a) && lacks_function(b)) &&
        !(missed(a) && wc_str_same(missed(a), missed(b))))
        return false;
    if (is_other_request(a, b))
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

bool judge_is_shown(const struct planning *p, const struct wc_finding_record *f) {
    const struct wc_stack *s = &p->source->stack;

    return p->base.source && (find_in(&p->base, false, f, s) || find_in(&p->base, true, f, s));
}

/* ---- what is asked of each ---- */

struct case_of { /* one candidate and one finding */
    const struct planning *p;
    const struct played *x;
    const struct candidate *c;                /* of x */
    const struct wc_stack *s, *before, *then; /* the process; its replay without and with them */
    const struct wc_finding_record *f;
    bool of_end; /* only with the end of the process the replay shows the finding */
    bool variables_alone, new_files; /* of the edits */
};

/* Of a part that the facade then looks for, and that its release does not hold yet, another release
 * adds nothing (pytorch#188892). */
static bool does_without(const struct wc_stack *then, const char *name) {
    const struct wc_name n = wc_name_read(name);
    const struct wc_object *facade = wc_first_facade(then);

    return n.kind == WC_NAME_PART && facade && wc_version_known(facade->version) &&
           wc_part_comes_with(n.part, facade->version);
}

/* A facade opens its parts by itself. Those that the process had, a facade of that major needs,
 * too. */
static bool loses_part(const struct wc_stack *s, const struct wc_stack *then, bool by_variable) {
    return WC_ANY(part, s->objects,
                  part->r.role == WC_role_PART && part->r.mapped && part->r.soname &&
                      !(by_variable && does_without(then, part->r.soname)) &&
                      WC_ANY(o, then->objects,
                             o->r.role == WC_role_FACADE &&
                                 wc_name_read(wc_base_name(wc_path_of(o))).version.major ==
                                     wc_name_read(part->r.soname).version.major) &&
                      !WC_ANY(o, then->objects,
                              o->r.role == WC_role_PART && wc_str_same(o->r.part, part->r.part)));
}

bool judge_is_harmless(const struct replay *r, const struct outcome *base, const struct outcome *o,
                       bool by_variable) {
    if ((base->starts && !o->starts) || o->loses || o->torn > base->torn || o->shadows ||
        loses_part(&base->source->stack, &o->source->stack, by_variable))
        return false;
    return !WC_ANY(q, r->requests,
                   !q->failure && replay_got_by(r, base, q)->files &&
                       !replay_got_by(r, o, q)->files &&
                       !(by_variable && does_without(&o->source->stack, q->name)));
}

static bool breaks_what_worked(const struct case_of *c) {
    return !c->x->harmless;
}

/* The same for another library, or of it put again under another path, is not a cure either: as bad
 * as the replay had it, which knows less of how it ended than the process. But of two copies one
 * always is before the other. */
static bool remains(const struct case_of *c) {
    const struct outcome *o = &c->x->outcome;
    const struct wc_finding_record *f = c->f, *was = find_in(&c->p->base, c->of_end, f, c->s);
    const enum wc_severity least = was && was->severity < f->severity ? was->severity : f->severity;

    return find_in(o, c->of_end, f, c->s) ||
           (f->host == WC_NULL && !is_a(f, "shadowed-copy") &&
            WC_ANY(known, *found_in(o, c->of_end),
                   wc_str_same(known->id, f->id) && known->severity >= least &&
                       !known->explained_by &&
                       !(is_other_request(known, f) &&
                         find_in(&c->p->base, c->of_end, known, &o->source->stack))));
}

static bool leaves_cause(const struct case_of *c) {
    return WC_ANY(known, *found_in(&c->x->outcome, c->of_end),
                  wc_str_same(known->id, c->f->explained_by));
}

/* The load that failed fails as before, if for another library, and so does each other one: of
 * several names a host may need one. A bare name of cuDNN or CUDA is one of several. Or a
 * program that never ran does not start, as before, and nothing that is found then says why. */
static bool still_fails(const struct case_of *c) {
    const struct outcome *base = &c->p->base, *o = &c->x->outcome;
    const char *asked = wc_fact_value(c->f, WC_FACT_ASKED_FOR);
    const bool counts = asked && (*asked == '/' || wc_name_kind_of(asked) == WC_NAME_OTHER);
    bool fails = false;

    if (c->s->has_outcome && !c->s->outcome.observed && !base->starts && !o->starts &&
        !WC_ANY(f, o->findings, f->severity == WC_severity_ERROR))
        return true;
    WC_EACH(q, c->p->replay.requests) {
        const bool failed = q->failure && !replay_got_by(&c->p->replay, base, q)->files;
        if (failed && replay_got_by(&c->p->replay, o, q)->files)
            return false;
        fails = fails || (failed && counts && wc_str_same(q->name, asked));
    }
    return fails;
}

/* As bad, and not there before. That now the other one of two copies is in front does not count;
 * what is so in any order is not caused by the order; what calls returned no replay changes. */
static bool is_new(const struct case_of *c, const struct outcome *o,
                   const struct wc_finding_record *f) {
    const struct wc_finding_record *was = find_in(&c->p->base, c->of_end, f, &o->source->stack);
    const bool by_order = c->c->p[0].kind == EDIT_IMPORT_FIRST && is_a(f, "two-cuda-copies");
    /* One mixture in place of another is a step for what repairs a mixture, and no more than that
     * (a driver that is missing, and parts that do not ask for it). */
    const bool replaces =
        was && !wc_str_same(was->id, f->id) && !is_same(was, c->before, c->f, c->s);

    return f->severity >= c->f->severity && !by_order && !is_a(f, "shadowed-copy") &&
           !(is_a(c->f, "shadowed-copy") && is_a(f, "already-loaded-by-soname")) &&
           !(was && (was->severity >= f->severity || asks(f, OF_CALLS)) && !replaces);
}

/* What is reported of only a failing program counts, too: it may go on to fail. */
static bool brings_another(const struct case_of *c) {
    const struct outcome *o = &c->x->outcome;

    for (int of_end = 0; of_end < 2; of_end++)
        if (WC_ANY(f, *found_in(o, of_end),
                   asks(f, NEVER_NEW) && !find_in(&c->p->base, of_end, f, &o->source->stack)))
            return true;
    return WC_ANY(f, *found_in(o, c->of_end), is_new(c, o, f));
}

static bool leaves_errors(const struct case_of *c) {
    return c->f->severity < WC_severity_ERROR && c->x->left.errors + c->x->left.of_end > 0;
}

/* The kinds of edits that hide such a finding and leave what is wrong: see cause.h. */
static bool is_of_wrong_kind(const struct case_of *c) {
    const struct wc_finding_record *f = c->f;
    const bool limits =
        WC_ANY(known, c->p->base.findings, asks(known, NO_FILES) && known->severity >= f->severity);

    return (c->variables_alone ? asks(f, NO_VARIABLE) : asks(f, VARIABLES_ALONE)) ||
           (c->new_files && (asks(f, NO_FILES) || asks(f, OF_DRIVER) || limits)) ||
           /* A single library of CUDA's: what those next to it require is not known. */
           (c->c->p[0].kind == EDIT_PLACE &&
            wc_name_kind_of(c->c->p[0].name) == WC_NAME_CUDA_DEPENDENCY &&
            is_a(f, "symbol-version-not-found")) ||
           /* Without that package no host gets a cuDNN. */
           (c->c->n == 1 && c->c->p[0].kind == EDIT_REMOVE &&
            (asks(f, PACKAGE_STAYS) || !wc_first_facade(c->then)));
}

/* The same libraries are loaded for the same requests, and no package is made complete again: a
 * finding less, and nothing else. */
static bool changes_nothing(const struct case_of *c) {
    const struct outcome *base = &c->p->base, *o = &c->x->outcome;
    const struct wc_stack *before = c->before, *s = c->then;

    return !WC_ANY(q, c->p->replay.requests,
                   replay_got_by(&c->p->replay, base, q)->files !=
                       replay_got_by(&c->p->replay, o, q)->files) &&
           !WC_ANY(p, before->packages,
                   !WC_ANY(after, s->packages,
                           wc_str_same(after->r.package, p->r.package) &&
                               wc_str_same(after->r.prefix, p->r.prefix) &&
                               after->r.missing_count == p->r.missing_count &&
                               after->r.changed.n == p->r.changed.n)) &&
           before->failures.n == s->failures.n && before->objects.n == s->objects.n &&
           !WC_ANY(object, s->objects,
                   !WC_ANY(was, before->objects,
                           was->r.inode == object->r.inode && was->r.device == object->r.device &&
                               wc_str_same(was->r.asked_by, object->r.asked_by)));
}

/* Of cuDNN or CUDA, and not found by another name either. */
static bool found_by_no_name(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_name asked = wc_name_read(f->r.name);

    return wc_is_load(f) && wc_kind_is_ours(asked.kind) &&
           !WC_ANY(o, s->objects,
                   o->r.mapped && wc_name_kind_of(wc_path_of(o)) == asked.kind &&
                       wc_str_same(wc_name_read(wc_path_of(o)).part, asked.part));
}

/* It, or the command that it was of, did not end well, or, where its end is unknown, a call
 * failed or something was requested without success. */
static bool has_failed(const struct planning *p) {
    const struct wc_stack *s = &p->source->stack;

    if (s->has_outcome || s->command_ended)
        return wc_ended_badly(s);
    return wc_a_call_failed(s) || WC_ANY(f, s->failures, found_by_no_name(s, f));
}

/* Of a process that works. */
static bool is_mere_note(const struct case_of *c) {
    return c->f->severity < WC_severity_WARNING && !has_failed(c->p) &&
           !is_a(c->f, "own-copy-unused");
}

bool judge_adds(const struct wc_stack *s, const struct edit *e) {
    WC_EACH_ELEMENT(one, e->kind == EDIT_SET ? e->value : NULL, ":")
        if (!path_has_element(wc_variable(s, e->name), one.p, one.n))
            return true;
    return false;
}

/* Nothing may change, and no variable, which counts for all else that is started, gets more. */
static bool is_too_much_for_note(const struct case_of *c) {
    return is_mere_note(c) && (WC_ANY(e, *c->c, judge_adds(c->before, e)) || !changes_nothing(c));
}

/* What was asked of whichcudnn itself is of no weight for the process. */
static bool has_no_effect(const struct case_of *c) {
    const bool takes_back = c->c->n == 1 && c->c->p[0].kind == EDIT_UNSET &&
                            wc_str_starts(c->c->p[0].name, "WHICHCUDNN_");

    return !takes_back && !is_mere_note(c) && changes_nothing(c);
}

/* ---- exceptions ---- */

/* Of two copies a process requires the one with which it works; of one that failed
 * it may be the other (world conda_lib_before_the_wheel). That of the environment is taken as it is
 * (world toolkit_exported_as_the_guide_says): a note of it asks for one variable. */
static bool takes_wrong_copy(const struct case_of *c) {
    const struct wc_object *had = wc_stack_object(c->s, c->f->object);
    const struct wc_candidate *other =
        had ? wc_candidate_of(c->s, wc_search_of(c->s, had), NULL) : NULL;
    const bool is_note = c->f->severity == WC_severity_NOTE;
    const char *own = wc_fact_path(c->f, WC_FACT_ITS_ENVIRONMENT_HAS);
    const size_t n = own ? strlen(own) : 0;

    if (is_a(c->f, "shadowed-copy"))
        return !has_failed(c->p) || !other || !other->r.path ||
               !WC_ANY(o, c->then->objects,
                       o->r.role == WC_role_FACADE &&
                           wc_str_same(wc_real_path_of(o), other->r.real_path ?: other->r.path));
    if (!is_a(c->f, "own-copy-unused"))
        return false;
    return (is_note && !(c->c->n == 1 && c->variables_alone)) || !n ||
           !WC_ANY(o, c->then->objects,
                   o->r.role == WC_role_FACADE && (wc_lies_in(wc_path_of(o), own, n) ||
                                                   wc_lies_in(wc_real_path_of(o), own, n)));
}

static bool has_not_used_gpu(const struct planning *p) {
    return p->source->type != SOURCE_SCAN &&
           !WC_ANY(call, p->source->stack.calls, wc_wants_gpu(call->r.function));
}

static struct entries entries_at(const struct planning *p, const char *directory, size_t n) {
    const struct view v = {p->candidates.memory, &p->replay.library_cache->disk.files};

    return view_entries(v, view_format(v, "%.*s", (int)n, directory));
}

/* What is in the directories of the search path of one outcome that another does not have. */
static struct entries only_in(const struct planning *p, const struct outcome *o,
                              const struct outcome *other) {
    const char *left = wc_variable(&other->source->stack, "LD_LIBRARY_PATH");
    struct entries all = {NULL, 0};

    WC_EACH_ELEMENT(e, wc_variable(&o->source->stack, "LD_LIBRARY_PATH"), ":") {
        if (path_has_element(left, e.p, e.n))
            continue;
        EACH_ENTRY(name, entries_at(p, e.p, e.n))
            entries_add(p->candidates.memory, &all, *name);
    }
    return all;
}

/* A library that may be loaded later, of a directory that only that outcome searches: one whose
 * name the loader's cache has as well, or one that it does not have. NULL: there is none. */
static const char *later_from(const struct planning *p, const struct outcome *o,
                              const struct outcome *other, bool cached) {
    struct wc_search_context search = {.machine = OWN_MACHINE};

    library_cache_use(p->replay.library_cache, p->replay.library_cache->interpreter, &search);
    EACH_ENTRY(name, only_in(p, o, other))
        if (strstr(*name, ".so") && !wc_name_is_cudnn(*name) &&
            !wc_mapped_as(&o->source->stack, *name) &&
            !wc_mapped_as(&other->source->stack, *name) &&
            !wc_search_cache(&search, *name) == !cached)
            return *name;
    return NULL;
}

/* A process that has not come to its first call on a GPU has not asked for all of CUDA yet: what
 * is in a directory that the path loses, and is not loaded from elsewhere, it may be about to
 * ask for (world image_exports_its_older_toolkit). For a mere note no directory goes that has other
 * libraries, either (world undefined_symbol_of_another_part). */
static bool loses_libraries(const struct case_of *c) {
    const int32_t of_process = wc_cuda_of_dependencies(c->then);
    const bool waits = has_not_used_gpu(c->p);
    const bool of_note =
        c->f->severity == WC_severity_NOTE && c->c->n == 1 && !is_a(c->f, "shadowed-copy");

    if (!waits && !of_note)
        return false;
    EACH_ENTRY(name, only_in(c->p, &c->p->base, &c->x->outcome)) {
        const enum wc_name_kind kind = wc_name_kind_of(*name);
        const int32_t cuda = wc_name_cuda(*name);
        if (of_note && strstr(*name, ".so") && !wc_kind_is_ours(kind))
            return true;
        if (waits && kind == WC_NAME_CUDA_DEPENDENCY && cuda > 0 &&
            (of_process < 0 || cuda == of_process) && !wc_mapped_as(c->then, *name))
            return true;
    }
    return false;
}

/* A host built with the installed facade refuses an older one: of a mixed set it is the parts
 * that a variable has to select (world undefined_symbol_of_another_part). Where a package, or what
 * a host was built with, demands a release, the refusing host is known. */
static bool takes_older(const struct case_of *c) {
    const struct wc_object *had = wc_first_facade(c->before), *gets = wc_first_facade(c->then);

    return asks(c->f, TORN) && c->variables_alone && had && gets &&
           !WC_ANY(d, c->s->demands,
                   d->r.demand_kind == WC_demand_kind_REQUIRED ||
                       d->r.demand_kind == WC_demand_kind_BUILT) &&
           wc_version_known(wc_own_range(had).low) && wc_version_known(wc_own_range(gets).high) &&
           wc_version_compare(wc_own_range(gets).high, wc_own_range(had).low) < 0;
}

/* Exactly the same cuDNN is made for the same CUDA then, and so is one for that CUDA, put there
 * again (world cudnn_came_for_another_cuda). But what it asks for by a name without a number may
 * have come of another CUDA (world nvrtc_of_an_old_module). */
static bool keeps_cuda(const struct case_of *c) {
    const struct wc_object *facade = wc_stack_object(c->s, c->f->object);
    const char *target = c->c->p[0].target, *file = facade ? wc_real_path_of(facade) : NULL;
    const int32_t cuda = facade ? wc_cuda_of_set(c->s, facade).major : -1;
    const struct wc_object *unnumbered =
        WC_FIRST(o, c->s->objects,
                 o->r.mapped && o->r.role == WC_role_CUDA_DEPENDENCY && o->r.asked_name &&
                     wc_str_ends(o->r.asked_name, ".so") &&
                     wc_is_cudnn(wc_object_of(c->s, o->r.asked_by_object, o->r.asked_by)));

    if (!is_a(c->f, "cuda-major-differs") || !file)
        return false;
    if (candidate_is_by_hand(c->c))
        return target && strtol(target, NULL, 10) == cuda;
    return !c->new_files && WC_ANY(o, c->then->objects, wc_str_same(wc_real_path_of(o), file)) &&
           (!unnumbered || wc_cuda_of(unnumbered) == cuda);
}

/* What a variable selects, or is copied, does not show by what is loaded of it for which CUDA it
 * is; its other parts name a library of a CUDA of which nothing is loaded. */
static bool is_for_other_cuda(const struct case_of *c) {
    const struct wc_object *had = wc_first_facade(c->before), *gets = wc_first_facade(c->then);
    const struct edit *first = &c->c->p[0];
    struct wc_arena *memory = c->p->candidates.memory;
    const char *path = gets ? wc_real_path_of(gets) : NULL;
    const char *directory =
        first->kind == EDIT_COPY ? first->target
        : c->variables_alone && !wc_str_same(path, had ? wc_real_path_of(had) : NULL)
            ? view_directory((struct view){memory, NULL}, path ?: "")
            : NULL;

    if (!directory || !gets || wc_cuda_of_dependencies(c->then) <= 0 ||
        wc_cuda_of_set(c->then, gets).major > 0)
        return false;
    EACH_ENTRY(name, entries_at(c->p, directory, strlen(directory))) {
        const struct wc_name part = wc_name_read(*name);
        const char *file = wc_arena_format(memory, "%s/%s", directory, *name);
        const int32_t cuda = part.kind == WC_NAME_PART && part.version.major == wc_major_of(gets)
                                 ? library_cuda(c->p->replay.library_cache, file)
                                 : -1;
        if (cuda > 0 && !WC_ANY(o, c->then->objects, wc_cuda_of(o) == cuda))
            return true;
    }
    return false;
}

/* For which CUDA such an edit reinstalls cuDNN, without what it needs; -1: not known. */
static int32_t cuda_anew(const struct edit *e) {
    const int32_t named = e->name ? wc_cuda_in_package(e->name) : -1;

    if (e->target && wc_is_digit(e->target[0]))
        return (int32_t)strtol(e->target, NULL, 10);
    return named > 0 || !e->value ? named : wc_cuda_in_package(e->value);
}

/* What was built for a newer system than this one is so in its package, too (case A201); a part
 * only may be another program's. What a library of cuDNN's needs of other makers, and what is in
 * no table, it still needs when it is put there again; and of CUDA, where it is for the same (world
 * cublas_that_cudnn_needs_is_not_there). */
static bool needs_the_same(const struct case_of *c) {
    const char *refused = wc_fact_value(c->f, WC_FACT_REFUSED);
    const char *library = wc_fact_value(c->f, WC_FACT_LIBRARY);
    const char *missing =
        is_a(c->f, "dependency-missing") ? wc_fact_value(c->f, WC_FACT_MISSING) : NULL;
    const enum wc_name_kind needer = wc_name_kind_of(wc_fact_value(c->f, WC_FACT_NEEDED_BY)
                                                         ?: wc_fact_value(c->f, WC_FACT_ASKED_FOR));
    const bool of_system = is_a(c->f, "symbol-version-not-found") && refused && library &&
                           wc_name_is_cudnn(refused) && wc_name_kind_of(library) == WC_NAME_OTHER;

    if (missing && wc_mapped_as(c->then, missing)) /* it came with them */
        missing = NULL;
    WC_EACH(e, *c->c) {
        const bool restores = e->kind == EDIT_RESTORE;
        const bool package = e->kind == EDIT_REINSTALL || e->kind == EDIT_INSTALL;
        const bool anew = e->kind == EDIT_REINSTALL || restores ||
                          (e->kind == EDIT_PLACE && wc_str_same(e->name, "cudnn"));
        if (of_system && (package || (restores && wc_name_kind_of(refused) == WC_NAME_FACADE)))
            return true;
        /* A file of other makers stays as it is, if it is whole; what NVIDIA's wheels of CUDA need
         * of CUDA is known (NVIDIA/tensorflow#110). */
        const bool in_tables = e->kind == EDIT_REINSTALL && !wc_kind_is_cudnn(needer) &&
                               wc_kind_is_ours(wc_name_kind_of(missing)) &&
                               wc_str_starts(e->name, "nvidia-");
        if (missing && !in_tables &&
            (e->kind == EDIT_REINSTALL ? wc_kind_is_ours(needer) : anew || package) &&
            !wheel_cudnn_needs(missing))
            return true;
        if (missing && anew && wc_name_cuda(missing) > 0 &&
            (cuda_anew(e) <= 0 || wc_name_cuda(missing) == cuda_anew(e)))
            return true;
    }
    return false;
}

static struct wc_version release_of(const struct wc_object *o) {
    return o ? wc_own_range(o).low : WC_VERSION_NONE;
}

/* Of two packages that have put their files at one path the one whose release is loaded is that
 * with which the process failed (world two_flavours_in_one_directory). With libraries of both it
 * failed with neither, and the older one is not kept (world two_packages_own_the_files). */
static bool keeps_failed(const struct case_of *c) {
    const struct wc_version had = release_of(wc_first_facade(c->before)),
                            gets = release_of(wc_first_facade(c->then));
    bool both = false, older = wc_version_compare(gets, had) < 0;

    if (!is_a(c->f, "installation-mixed") || c->c->n < 2 || c->c->p[0].kind != EDIT_REMOVE ||
        !has_failed(c->p) || !wc_version_known(had) || !wc_version_known(gets))
        return false;
    WC_EACH(o, c->before->objects)
        if (o->r.mapped && o->r.role == WC_role_PART && wc_version_known(release_of(o)) &&
            wc_version_compare(release_of(o), had) != 0) {
            both = true;
            older = older || wc_version_compare(gets, release_of(o)) < 0;
        }
    return both ? older : wc_version_compare(gets, had) == 0;
}

/* A wrapper of dlopen hides NVRTC's own search path from the loader as well: its builtins are in
 * the same directory (world profiler_opens_for_the_facade). */
static bool hides_builtins(const struct case_of *c) {
    static const char preload[] = "LD_PRELOAD", builtins[] = "libnvrtc-builtins.so.";
    const char *list = wc_variable(c->then, "LD_LIBRARY_PATH");

    if (!c->p->replay.in_turn ||
        !wc_str_same(wc_variable(c->before, preload), wc_variable(c->then, preload)))
        return false;
    WC_EACH(o, c->then->objects) {
        const char *path = wc_path_of(o) ?: "";
        const size_t n = wc_dir_length(path);
        if (wc_str_same(o->r.part, "nvrtc") && !path_has_element(list, path, n) &&
            ANY_ENTRY(name, entries_at(c->p, path, n), wc_str_starts(*name, builtins)))
            return true;
    }
    return false;
}

/* How much of the address space another copy takes, and what is loaded after it, no file shows. */
static bool lacks_room(const struct case_of *c) {
    return is_a(c->f, "refused-by-system") &&
           WC_ANY(file, c->s->files,
                  file->r.fault == WC_file_fault_NO_ROOM &&
                      wc_str_same(file->r.path, wc_fact_value(c->f, WC_FACT_FILE)));
}

const char judge_remains[] = "the finding remains";
const char judge_lost[] = "a library that is found now would not be found";
const char judge_new[] = "another finding of this severity appears";
const char judge_hides[] = "such a change hides this finding";
const char judge_later[] = "the search path loses libraries that may be requested later";
const char judge_conflict[] = "another package requires what it removes";

static const struct {
    bool (*objects)(const struct case_of *c);
    const char *because;
} objections[] = {
    {remains, judge_remains},
    {leaves_cause, "the cause remains"},
    {still_fails, "the load then fails for another reason"},
    {breaks_what_worked, judge_lost},
    {brings_another, judge_new},
    {leaves_errors, "an error remains that must be repaired first"},
    {is_of_wrong_kind, judge_hides},
    {has_no_effect, "the process gets the same libraries"},
    {is_too_much_for_note, "the process works, and would get other libraries"},
    {takes_wrong_copy,
     "it does not select the other copy, or the process works with its current copy"},
    {loses_libraries, judge_later},
    {takes_older, "it takes an older facade than the host was built with"},
    {keeps_cuda, "it is made for the same CUDA"},
    {is_for_other_cuda, "it is built for another CUDA"},
    {needs_the_same, "what it puts there needs the same that is missing"},
    {keeps_failed, "it keeps the release with which the process failed, or the older one"},
    {hides_builtins, "NVRTC would not find its builtins"},
    {lacks_room, "the limit of address space stays"},
};

const char *judge(const struct planning *p, const struct played *x,
                  const struct wc_finding_record *f) {
    const struct case_of c = {.p = p,
                              .x = x,
                              .c = &x->edits,
                              .f = f,
                              .s = &p->source->stack,
                              .before = &p->base.source->stack,
                              .then = &x->outcome.source->stack,
                              .of_end = !find_in(&p->base, false, f, &p->source->stack),
                              .variables_alone = !WC_ANY(e, x->edits, !edit_is_variable(e)),
                              .new_files =
                                  WC_ANY(e, x->edits,
                                         e->kind == EDIT_INSTALL || e->kind == EDIT_REINSTALL ||
                                             e->kind == EDIT_PLACE || e->kind == EDIT_RESTORE ||
                                             e->kind == EDIT_COPY)};

    WC_EACH_ROW(row, objections)
        if (row->objects(&c))
            return row->because;
    /* Another installed package, which may not be in this process, requires what goes: its repair
     * would break this one in turn (tensorflow and torch in one environment, each with a cuDNN for
     * another CUDA in the same folder). */
    return x->outcome.lacks ? judge_conflict : NULL;
}

/* ---- what is left ---- */

/* The facade that a host (its path) gets; of no host (NULL) the first; NULL: none. */
static const struct wc_object *facade_of(const struct wc_stack *s, const char *host) {
    WC_EACH(b, s->bindings) {
        const struct wc_object *o = wc_object_of(s, b->r.target, b->r.target_path);
        if (o && o->r.role == WC_role_FACADE && (!host || wc_str_same(b->r.host_path, host)))
            return o;
    }
    return WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE);
}

const struct wc_object *judge_facade(const struct wc_stack *of_f, const struct played *x,
                                     const struct wc_finding_record *f) {
    const struct wc_object *host = wc_stack_object(of_f, f->host);
    const char *own = file_of(of_f, f->object); /* if it keeps that one */

    return WC_FIRST(o, x->outcome.source->stack.objects,
                    !host && o->r.role == WC_role_FACADE && wc_str_same(wc_real_path_of(o), own))
               ?: facade_of(&x->outcome.source->stack, host ? wc_path_of(host) : NULL);
}

size_t judge_errors(const struct outcome *o) {
    size_t n = 0;

    WC_EACH(f, o->findings)
        n += f->severity == WC_severity_ERROR;
    return n;
}

void judge_weigh(const struct planning *p, struct played *x) {
    const struct outcome *o = &x->outcome;
    const struct wc_stack *s = &o->source->stack;
    const struct wc_object *had = wc_first_facade(&p->base.source->stack);
    const char *path = had ? wc_real_path_of(had) : NULL, *to = x->edits.p[0].path;
    /* Without a package, in a directory without the package's facade: that cuDNN is for others,
     * which counts as a pin does. */
    struct left left = {.pins =
                            path && had->r.installation && candidate_is_by_hand(&x->edits) &&
                            wc_is_cudnn_package(had->r.installation_kind, had->r.installation) &&
                            !wc_is_below(path, to, strlen(to))};

    left.pins += o->breaks != NULL;
    WC_EACH(e, x->edits)
        left.assumed += edit_assumes(e);
    left.errors = judge_errors(o);
    WC_EACH(f, o->findings) {
        left.warnings += f->severity == WC_severity_WARNING;
        left.suspects += f->severity == WC_severity_NOTE &&
                         (asks(f, VARIABLES_ALONE) || is_a(f, "own-copy-unused"));
    }
    WC_EACH(f, s->failures)
        left.missed += wc_is_load(f) && wc_kind_is_ours(wc_name_kind_of(wc_missing_of(f))) &&
                       !wc_asked_by_cudnn(s, f);
    WC_EACH(f, o->of_end)
        left.of_end +=
            f->severity == WC_severity_ERROR && !asks(f, OF_CALLS) && !asks(f, OF_DRIVER);
    WC_EACH(d, s->demands) { /* a newer release may work, and the next installation replaces it */
        const struct wc_object *facade = facade_of(s, d->r.host_path);
        left.pins += d->r.demand_kind == WC_demand_kind_REQUIRED && facade &&
                     wc_text_accepts(d->r.spec, wc_runtime_of(s, facade).range.low) == WC_NO;
    }
    x->left = left;
    x->loses = has_not_used_gpu(p) && later_from(p, &p->base, o, false);
    x->takes_over = later_from(p, o, &p->base, true);
}

int judge_compare_left(const struct played *a, const struct played *b) {
    const struct left *x = &a->left, *y = &b->left;
    const size_t pairs[][2] = {{x->assumed, y->assumed},   {x->errors, y->errors},
                               {x->beside, y->beside},     {x->of_end, y->of_end},
                               {x->warnings, y->warnings}, {x->pins, y->pins},
                               {x->suspects, y->suspects}, {x->missed, y->missed}};

    WC_EACH_ROW(pair, pairs)
        if ((*pair)[0] != (*pair)[1])
            return WC_ORDER((*pair)[0], (*pair)[1]);
    return 0;
}
