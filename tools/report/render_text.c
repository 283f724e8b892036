/* SPDX-License-Identifier: Apache-2.0 */
/* A report for people: see render.h. */
#include <stdlib.h>
#include <string.h>

#include "core/demand/finding.h"
#include "core/knowledge/programs.h"
#include "core/names/names.h"
#include "render.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/terminal.h"

/* ---- what happened, in time order ---- */

/* NULL: no moment of its own. The caller frees. */
static char *text_of(const struct wc_record *record) {
    switch (record->kind) {
    case WC_KIND_request: {
        const struct wc_request_record *r = &record->u.request;
        return must_format("asks for %s with %s%s%s", r->name ?: "the program itself",
                           wc_enum_word(WC_ENUM_operation, r->operation) ?: "?",
                           r->caller ? ", by " : "", r->caller);
    }
    case WC_KIND_failure: {
        const struct wc_failure_record *r = &record->u.failure;
        return must_format("not got: %s%s%s%s%s%s%s", r->function,
                           r->function && r->name ? " in " : "", r->name, r->caller ? ", by " : "",
                           r->caller, r->text ? ": " : "", r->text);
    }
    case WC_KIND_candidate: {
        const struct wc_candidate_record *r = &record->u.candidate;
        return must_format("%s %s%s%s", r->beaten ? "unused:" : "skipped:", r->path ?: "?",
                           r->version ? " " : "", r->version);
    }
    case WC_KIND_demand: {
        const struct wc_demand_record *r = &record->u.demand;
        return must_format("%s requires %s%s%s", r->host_path ?: "?", r->spec ?: "cuDNN",
                           r->built ? ", built with " : "", r->built);
    }
    case WC_KIND_binding: {
        const struct wc_binding_record *r = &record->u.binding;
        return must_format("%s is bound to %s, functions: %jd", r->host_path ?: "?",
                           r->target_path ?: "nothing", wc_bound_functions(r));
    }
    case WC_KIND_search: {
        const struct wc_search_record *r = &record->u.search;
        const char *word = wc_enum_word(WC_ENUM_search_rule, r->rule);
        if (!word)
            return must_format("search for %s: by which rule is not known", r->name ?: "?");
        return must_format("search for %s: found by %s%s%s%s%s", r->name ?: "?", word,
                           r->of ? " of " : "", r->of, r->element ? ", " : "", r->element);
    }
    case WC_KIND_outcome:
        return must_format("ended: %s %s",
                           wc_enum_word(WC_ENUM_ending, record->u.outcome.ending) ?: "?",
                           record->u.outcome.signal_name);
    case WC_KIND_object: {
        const struct wc_object_record *o = &record->u.object;
        OWNED char *version = library_version(o);
        return must_format("%s %s %s%s%s", o->mapped ? "got" : "unloaded:", library_label(o),
                           library_path(o), version ? " " : "", version);
    }
    case WC_KIND_call: {
        const struct wc_call_record *c = &record->u.call;
        const char *function = c->function ?: "?";
        const int64_t number = c->returned_version != WC_NULL ? c->returned_version
                               : !c->status_name              ? c->status
                                                              : WC_NULL;
        if (c->phase == WC_phase_BEFORE)
            return must_format("calls %s in %s", function, c->target_path ?: "?");
        if (number != WC_NULL)
            return must_format("%s returned %lld", function, (long long)number);
        return must_format("%s returned%s%s", function, c->status_name ? " " : "", c->status_name);
    }
    case WC_KIND_file:
        return must_format("in question: %s", record->u.file.path ?: "?");
    case WC_KIND_package:
        return must_format("package %s %s", record->u.package.package ?: "?",
                           record->u.package.package_version);
    case WC_KIND_unobserved:
        return must_format("not observed: %s", record->u.unobserved.what ?: "?");
    case WC_KIND_process:
        return must_format("start of %s", record->u.process.executable ?: "?");
    case WC_KIND_summary:
        return must_copy("normal end");
    default:
        return NULL;
    }
}

WC_COMPARE(earlier_first, struct wc_record *const,
           WC_ORDER((*x)->time, (*y)->time) ?: WC_ORDER((*x)->seq, (*y)->seq));

/* A log has times; what was found is found again. */
void render_timeline(struct layout *l, const void *report) {
    const struct report *r = report;
    const struct source *s = r->source;
    const bool threads = WC_ANY(e, s->events, e->tid != s->events.p[0].tid);
    OWNED struct wc_record **moments = must_allocate(s->events.n * sizeof(*moments));
    int64_t passed;

    for (size_t i = 0; i < s->events.n; i++)
        moments[i] = &s->events.p[i];
    qsort(moments, s->events.n, sizeof(*moments), earlier_first);
    if (s->events.n > 0)
        fprintf(l->to, "\ntime line: seconds%s, what happened\n", threads ? ", thread" : "");
    EACH_POINTER(m, moments, s->events.n) {
        const struct wc_finding_record *found =
            m->kind == WC_KIND_finding
                ? WC_FIRST(f, r->findings, wc_str_same(f->id, m->u.finding.id))
                : NULL;
        OWNED char *text = found ? must_format("%s: %s", found->id, found->title) : text_of(m);
        if (!text)
            continue;
        if (__builtin_sub_overflow(m->time, moments[0]->time, &passed))
            passed = 0;
        layout_line(l, 2, 16);
        fprintf(l->to, "%+12.6f", (double)passed / 1e6);
        l->column += 12;
        if (threads)
            layout_words(l, "%lld", (long long)m->tid);
        if (found)
            layout_painted(l, wc_enum_word(WC_ENUM_severity, found->severity),
                           paint_of_severity(found->severity));
        layout_words(l, "%s", text);
        layout_end(l);
    }
}

/* ---- what was resolved, as a tree ---- */

/* Each host, the facade that it got, the parts of that; then what hangs on nothing, the
 * cuda_dependencies, and what was requested without success. A library is a line: path, version,
 * by which rule it was found, whose installation. */
struct tree {
    struct layout *l;
    const struct report *r;
    const struct wc_stack *s;
    size_t facades;      /* how many there are */
    bool *shown, *bound; /* one for each object; bound: the host of this moment is bound to it */
    struct wc_case words;
};

/* Columns of a line; what it goes on with stands two further. */
#define INDENT(depth) (2 + 2 * (depth))

/* A host's own version is its package's, so only libraries of cuDNN and CUDA emit theirs. In the
 * colour of the worst that is printed of this object. */
static void add_version(const struct tree *t, const struct wc_object_record *o) {
    OWNED char *version = library_version(o);
    const char *source = wc_enum_word(WC_ENUM_version_source, o->version_source);
    enum wc_severity worst = WC_severity_NONE;

    WC_EACH(f, t->r->findings)
        if (f->object != WC_NULL && f->object == o->object && f->severity > worst)
            worst = f->severity;
    if (version)
        layout_painted(t->l, version,
                       worst >= WC_severity_WARNING ? paint_of_severity(worst) : PAINT_BOLD);
    else if (o->role == WC_role_FACADE || o->role == WC_role_PART)
        layout_words(t->l, "version not known");
    if (t->l->whole && o->version && source)
        layout_words(t->l, "(%s)", source);
}

#define VERSION_ROOM 12 /* columns that nearly every version fits in */

static void print_object(struct tree *t, size_t i, int depth) {
    const struct wc_object_record *o = &t->s->objects.p[i].r;
    OWNED char *rule = library_rule(library_search(t->s, o), t->l->whole);
    OWNED char *installation = library_installation(o);
    const char *path = library_path(o), *how = wc_enum_word(WC_ENUM_operation, o->asked_how);

    layout_line(t->l, INDENT(depth), INDENT(depth) + 2);
    layout_words(t->l, "%s", library_label(o));
    if (!t->l->whole && wc_program_is(path, WC_PROGRAM_LIBRARY)) /* known by this name */
        path = wc_format_asker(&t->words, path);
    layout_path(t->l, path, VERSION_ROOM);
    if (t->shown[i]) {
        layout_words(t->l, "(the same)");
    } else {
        add_version(t, o);
        if (rule)
            layout_together(t->l, "[%s]", rule);
        if (installation)
            layout_together(t->l, "%s", installation);
    }
    if (!o->mapped)
        layout_words(t->l, t->s->replayed ? "(does not load)" : "(unloaded again)");
    layout_end(t->l);
    if (!t->shown[i] && t->l->whole && (o->asked_name || o->asked_by))
        layout_row(t->l, INDENT(depth + 1), INDENT(depth + 2), "asked for%s%s%s%s%s%s%s",
                   o->asked_name ? " as " : "", o->asked_name, o->asked_by ? " by " : "",
                   o->asked_by, how ? " (" : "", how, how ? ")" : "");
    t->shown[i] = true;
}

/* With its parts: those that it requested, or was installed with, or all if there is no other. */
static void print_facade(struct tree *t, size_t facade, int depth) {
    const struct wc_object *o = t->s->objects.p;
    bool again = t->shown[facade];

    print_object(t, facade, depth);
    for (size_t i = 0; i < t->s->objects.n && !again; i++) {
        if (o[i].r.role != WC_role_PART || t->shown[i])
            continue;
        const struct wc_object *asker = wc_stack_object(t->s, o[i].r.asked_by_object);
        if (asker && asker->r.role == WC_role_FACADE
                ? asker == &o[facade]
                : wc_same_installation(&o[i], &o[facade]) || t->facades == 1)
            print_object(t, i, depth + 1);
    }
}

static void print_host(struct tree *t, size_t host) {
    const struct wc_object *objects = t->s->objects.p;
    const int64_t number = objects[host].r.object;
    bool got = false;

    print_object(t, host, 0);
    WC_EACH(d, t->s->demands) {
        const char *spec = d->r.spec, *built = d->r.built, *source = d->r.source;
        if (d->r.host == number && (spec || built))
            layout_row(t->l, INDENT(1), INDENT(2), "wants%s%s%s%s%s%s%s%s", spec ? " " : "", spec,
                       spec && built ? "," : "", built ? " built with " : "", built,
                       source ? " (" : "", source, source ? ")" : "");
    }
    memset(t->bound, 0, t->s->objects.n);
    WC_EACH(b, t->s->bindings) {
        const struct wc_object *o = b->r.host == number ? wc_stack_object(t->s, b->r.target) : NULL;
        if (o)
            t->bound[o - objects] = true;
    }
    for (size_t i = 0; i < t->s->objects.n; i++) {
        const int64_t asker = objects[i].r.asked_by_object;
        if (objects[i].r.role == WC_role_FACADE &&
            (t->bound[i] || (asker != WC_NULL && asker == number))) {
            print_facade(t, i, 1);
            got = true;
        }
    }
    if (!got)
        layout_row(t->l, INDENT(1), INDENT(2), "got no cuDNN that was seen");
}

static void print_rest(struct tree *t, enum wc_role role) {
    for (size_t i = 0; i < t->s->objects.n; i++) {
        if (t->s->objects.p[i].r.role != role || t->shown[i])
            continue;
        if (role == WC_role_FACADE)
            print_facade(t, i, 0);
        else
            print_object(t, i, 0);
    }
}

static void print_failures(const struct tree *t) {
    bool any = false;

    WC_EACH(failure, t->s->failures) {
        const struct wc_failure_record *f = &failure->r;
        const struct wc_name name = wc_name_read(f->name);
        /* A facade asks for each part by several names in turn: where one of them was answered, the
         * others are not failures. */
        if (name.kind == WC_NAME_PART && !f->function &&
            WC_ANY(o, t->s->objects,
                   o->r.role == WC_role_PART && wc_str_same(o->r.part, name.part) &&
                       wc_str_same(o->r.asked_by, f->caller)))
            continue;
        fputs(any ? "" : "\nrequests that failed\n", t->l->to);
        any = true;
        layout_row(t->l, INDENT(0), INDENT(0) + 2, "%s%s%s%s%s%s %s", f->function,
                   f->function && f->name ? " in " : "", f->name || f->function ? f->name : "?",
                   f->caller ? " by " : "", f->caller, f->caller ? ":" : "",
                   f->text ?: "nothing answers to that name");
    }
}

/* Hosts, what each got, what that loaded: a line for each library. */
static void render_tree(struct layout *l, const struct report *r) {
    const struct wc_stack *s = &r->source->stack;
    ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory);
    struct wc_diagnosis names = {.s = s, .scratch = &memory.arena};
    OWNED bool *shown = must_allocate(s->objects.n), *bound = must_allocate(s->objects.n);
    struct tree t = {
        .l = l, .r = r, .s = s, .shown = shown, .bound = bound, .words = {.d = &names}};

    WC_EACH(o, s->objects)
        t.facades += o->r.role == WC_role_FACADE;
    if (s->objects.n > 0)
        fputs("\nlibraries: path, version, [rule by which it was found], installation\n", l->to);
    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.p[i].r.role == WC_role_HOST || s->objects.p[i].r.is_host)
            print_host(&t, i);
    print_rest(&t, WC_role_FACADE);
    print_rest(&t, WC_role_PART);
    print_rest(&t, WC_role_CUDA_DEPENDENCY);
    print_failures(&t);
}

/* ---- the verdict ---- */

void render_verdict_words(struct layout *l, const struct report *r) {
    static const char *const words[] = {[WC_verdict_OK] = "ok",
                                        [WC_verdict_UNEXPLAINED] = "unexplained",
                                        [WC_verdict_NOT_OBSERVED] = "not observed"};
    const struct wc_conclusion *c = &r->conclusion;

    if (c->finding)
        layout_label(l, wc_enum_word_raw(WC_ENUM_severity, c->finding->severity),
                     paint_of_severity(c->finding->severity));
    else
        layout_label(l, words[c->verdict], c->verdict == WC_verdict_OK ? PAINT_OK : PAINT_WARNING);
    layout_words(l, "%s", c->text ?: "there was no memory for more words");
}

void render_copies(struct layout *l, const struct report *r, const char *before,
                   const struct report *last) {
    WC_EACH(copy, r->conclusion.copies)
        if (!last || !WC_ANY(same, last->conclusion.copies, strcmp(*same, *copy) == 0))
            layout_row(l, 0, 4, "%s%s", before, *copy);
}

void render_verdict(struct layout *l, const struct report *r, const char *before, const char *who) {
    const bool ok = r->conclusion.verdict == WC_verdict_OK;

    layout_line(l, 0, 4);
    if (before)
        layout_words(l, "%.*s", (int)strlen(before) - 1, before);
    if (ok)
        layout_painted(l, "ok", PAINT_OK);
    else
        render_verdict_words(l, r);
    if (ok && who)
        layout_words(l, "in %s", who);
    layout_end(l);
}

void render_known(struct layout *l, const struct report *r) {
    const struct wc_conclusion *c = &r->conclusion;

    WC_EACH(sentence, c->known)
        layout_fact(l, "known", "%s", *sentence);
    if (c->next)
        layout_fact(l, "next", "%s", c->next);
}

char *render_verdict_text(const struct report *r) {
    struct sink sink;
    struct layout l = {.to = sink_begin(&sink), .whole = true};

    render_verdict_words(&l, r);
    return sink_end(&sink);
}

/* ---- where it comes from ---- */

/* "30555 on vm: python train.py, exited 1" */
static char *process_of(const struct report *r) {
    static const char with[] = "with status ";
    char text[1024];
    struct wc_text t;
    bool exited = r->ending && wc_str_starts(r->ending, with);
    OWNED char *ending =
        exited ? must_format("exited %s", r->ending + sizeof(with) - 1)
               : must_copy(wc_str_same(r->ended, ENDED_NORMALLY) ? r->ended : r->ending);

    if (r->source->type == SOURCE_LOCK)
        return NULL;
    wc_text_begin(&t, text, sizeof(text));
    wc_finding_process(&t, r->source->pid, &r->source->stack.process, ending);
    return must_copy(text);
}

/* found: below a finding, which has the process, and reports nothing as ok. */
static void print_origin(struct layout *l, const struct report *r, bool found) {
    const struct source *s = r->source;
    OWNED char *process = found ? NULL : process_of(r);

    if (process && *process)
        layout_fact(l, "process", "%s", process);
    render_known(l, r);
    for (unsigned i = 1; i < WC_limit_COUNT; i++)
        if (r->conclusion.limits & 1u << i &&
            (!found || l->whole || i == WC_limit_NEWER_THAN_TABLE))
            layout_fact(l, "limit", "%s", wc_limit_text((enum wc_limit)i));
    if (s->stack.outcome.reason && (found || l->whole))
        layout_fact(l, "note", "%s", s->stack.outcome.reason);
    if (!found || l->whole)
        layout_fact(l, s->type == SOURCE_PROCESS ? "seen in" : source_type_word(s->type),
                    "%s (%zu records)", s->path, s->records);
    WC_EACH(gap, r->gaps)
        layout_row(l, LAYOUT_KEYS, LAYOUT_KEYS, "%s", *gap);
}

void render_origin(struct layout *l, const void *report) {
    print_origin(l, report, false);
}

/* ---- findings ---- */

enum { FIXES = 3, COMMAND_LINES = 8 };

/* Below what was played stands what that gave, below what was not the reason why. */
void put_fix_rows(struct wc_finding_page *page, const void *fixes) {
    const struct plan_of_finding *of = fixes;
    const char *label = NULL;

    for (size_t i = 0; i < of->n && i < FIXES; i++) {
        const struct repair *fix = &of->p[i];
        const bool again = wc_str_same(repair_label(fix), label);
        OWNED char *outcome = repair_outcome(fix, WC_PAGE_VALUE - 1);
        const char *command = fix->command ? wc_page_keep(page, "%s", fix->command) : NULL;
        const bool whole = command && strlen(command) < sizeof(page->raw) - 1 &&
                           wc_page_lines(command, WC_PAGE_KEYS, true) <= COMMAND_LINES;
        const char *text = wc_page_keep(page, "%s%s", fix->text ?: "?",
                                        command ? " (its command: report -v)" : "");
        label = repair_label(fix);
        struct wc_finding_row *row =
            wc_page_add_row(page, again ? " or" : label, RANK_FIX, whole ? command : text);
        if (!row)
            continue;
        row->command = whole;
        row->shorter = whole ? text : NULL;
        row->most = whole ? COMMAND_LINES : 4;
        row->weight = again ? RANK_FOUND : RANK_GOT;
        if ((fix->checked != REPAIR_NOT_CHECKED || fix->why || fix->but) &&
            (row = wc_page_add_row(page, "", RANK_FIX, wc_page_keep(page, "%s", outcome)))) {
            row->most = 2;
            row->weight = again ? RANK_MIND : RANK_GOT;
        }
    }
}

void render_finding(FILE *to, const struct report *r, const struct wc_finding_record *f,
                    struct wc_finding_view view, bool colour) {
    static struct wc_finding_page page;

    view.paint = paint_begin(colour, paint_of_severity(f->severity));
    view.unpaint = paint_end(colour);
    view.put_fixes = put_fix_rows;
    view.fixes = report_fixes(r, f);
    fputs(wc_finding_text(&page, f, &view), to);
}

/* The first, with its process, and the titles of the others; with l->whole all of each. */
static void print_findings(struct layout *l, const struct report *r, bool found) {
    OWNED char *process = process_of(r);

    for (size_t i = 0; i < r->findings.n; i++) {
        const bool first = i == 0 && found;
        const struct wc_finding_view view = {
            .stack = &r->source->stack,
            .process = first ? process : NULL,
            .log = first && !l->whole && r->source->type == SOURCE_LOG ? r->source->path : NULL,
            .lines = l->whole ? 0
                     : first  ? WC_FINDING_LINES + 1 /* that of the log */
                              : 1};
        if (i > 0 && l->whole)
            putc('\n', l->to);
        render_finding(l->to, r, &r->findings.p[i], view, l->colour);
        if (!l->whole)
            continue;
        fputs("facts\n", l->to);
        WC_EACH(fact, r->findings.p[i].facts) {
            layout_line(l, 2, 4);
            layout_words(l, "%s: %s", fact->name, fact->value ?: "not known");
            if (fact->source)
                layout_together(l, "(%s)", fact->source);
            layout_end(l);
        }
    }
}

static void print_report(struct layout *l, const void *what) {
    const struct report *r = what;
    const struct wc_finding_record *first = r->conclusion.finding;
    const bool found = first && (l->whole || !report_is_notice(first));

    render_copies(l, r, "", NULL);
    if (found)
        print_findings(l, r, found);
    else if (!first)
        render_verdict(l, r, NULL, NULL);
    print_origin(l, r, found);
    if (!found)
        print_findings(l, r, found);
    if (!found || l->whole)
        render_tree(l, r);
    if (l->whole) {
        render_timeline(l, r);
        fputs("\neverything that is known, as in --json\n", l->to);
        json_print(l->to, render_json(r));
    }
}

void render_text(struct layout *l, const struct report *r) {
    layout_screen(l, print_report, r);
}
