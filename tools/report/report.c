/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "core/knowledge/programs.h"
#include "core/names/names.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/log/redact.h"
#include "tools/util/terminal.h"

const char *library_path(const struct wc_object_record *o) {
    if (o->real_path || o->path)
        return o->real_path ?: o->path;
    return o->soname ?: "a file whose name is not known";
}

const char *library_label(const struct wc_object_record *o) {
    return o->part ?: wc_enum_word(WC_ENUM_role, o->role) ?: "object";
}

const char *library_name(const struct wc_object_record *o) {
    return wc_base_name(o->soname && o->role != WC_role_HOST ? o->soname : library_path(o));
}

bool library_counts(const struct wc_object_record *o) {
    return o->role != WC_role_OTHER || o->is_host;
}

char *library_version(const struct wc_object_record *o) {
    if (o->version)
        return must_copy(o->version);
    if (o->version_floor && o->version_ceiling)
        return must_format("%s to %s", o->version_floor, o->version_ceiling);
    if (o->version_floor || o->version_ceiling)
        return must_format("not %s than %s", o->version_floor ? "older" : "newer",
                           o->version_floor ?: o->version_ceiling);
    return NULL;
}

/* Only where the replay of the loader's rules pointed to this very file. A search that found the
 * object loaded shows less than its loader. */
const struct wc_search_record *library_search(const struct wc_stack *s,
                                              const struct wc_object_record *o) {
    WC_EACH(f, s->searches)
        if (f->r.object != WC_NULL && f->r.object == o->object &&
            f->r.rule != WC_search_rule_LOADED && (f->r.rule || f->r.of || f->r.element))
            return &f->r;
    return NULL;
}

char *library_rule(const struct wc_search_record *f, bool element) {
    if (!f)
        return NULL;
    return must_format("%s%s%s%s%s", wc_enum_word(WC_ENUM_search_rule, f->rule),
                       f->of ? " of " : "", wc_base_name(f->of), element && f->element ? ": " : "",
                       element ? f->element : NULL);
}

char *library_source(const struct wc_object_record *o) {
    const char *kind = wc_enum_word(WC_ENUM_installation_kind, o->installation_kind);

    if (!kind && !o->installation)
        return NULL;
    return must_format("%s%s%s", kind, kind && o->installation ? " " : "", o->installation);
}

char *library_installation(const struct wc_object_record *o) {
    const char *version = o->installation ? o->installation_version : NULL;
    OWNED char *source = library_source(o);

    return source ? must_format("%s%s%s", source, version ? " " : "", version) : NULL;
}

char *joined(const struct wc_strings *list, const char *separator) {
    struct sink all;
    FILE *to = sink_begin(&all);

    WC_EACH(text, *list)
        fprintf(to, "%s%s", text > list->p ? separator : "", *text);
    return sink_end(&all);
}

#define PLANS_MOST 32 /* of one command: each plays many times */

/* Of a call it is known that it had not returned; of a request only that it was the last one. */
static const char *during(const char *what) {
    return !what ? "" : wc_is_function_of_cudnn(what) ? ", during " : ", last request: ";
}

static void find_ending(struct report *r) {
    const struct source *source = r->source;
    const struct wc_stack *s = &source->stack;
    const struct wc_outcome_record *o = &s->outcome;
    struct wc_arena *memory = &r->memory.arena;
    const char *flying = in_flight_last(&source->in_flight, NULL);

    r->ending = r->ended = NULL;
    if (source->type != SOURCE_LOG)
        return;
    if (s->has_outcome) {
        const bool exited = o->ending == WC_ending_EXITED;
        r->ending = o->ending == WC_ending_NOT_STARTED ? "never started"
                    : o->ending == WC_ending_SIGNALED
                        ? wc_arena_format(memory, "killed by %s%s%s", o->signal_name ?: "a signal",
                                          during(o->during), o->during)
                    : exited && o->exit_status != WC_NULL
                        ? wc_arena_format(memory, "with status %jd%s%s", o->exit_status,
                                          during(o->during), o->during)
                        : "in a way that is not known";
        r->ended = !exited               ? r->ending
                   : o->exit_status == 0 ? ENDED_NORMALLY
                                         : wc_arena_format(memory, "ended %s", r->ending);
    } else if (s->has_summary) {
        r->ending = r->ended = ENDED_BY_EXIT;
    } else if (source->end == WC_END_RUNS) {
        r->ending = "not yet: it still runs";
        r->ended = "still running";
    } else if (!r->was_cut_off && source->end != WC_END_UNKNOWN && source->end != WC_END_FAILED) {
        r->ending = r->ended = "by _exit";
    } else {
        const bool gone = writer_state(source) == WRITER_GONE;
        r->ended = r->was_cut_off ? "killed"
                   : gone         ? "by _exit, or killed"
                                  : "with an end that is not known";
        r->ending = wc_arena_format(memory, "end not in the log: %s%s%s",
                                    r->was_cut_off || gone ? r->ended : "killed, or still running",
                                    during(flying), flying);
    }
}

static struct wc_strings find_gaps(struct wc_arena *memory, const struct source *s) {
    size_t damaged = s->file ? s->file->damaged_lines : 0, n = 0;
    size_t told = s->file ? s->file->damaged.n : 0;
    const struct {
        const char *text;
        int64_t count;
    } counts[] = {
        {"and %jd lines more", (int64_t)(damaged - told)},
        {"%jd of its records are missing, by their numbers", source_missing(s)},
        {"%jd list elements and bytes of text were too long for it", s->cut},
        {"%jd facts found no room", s->stack.dropped},
    };
    const char **gaps =
        wc_arena_take(memory, (told + sizeof(counts) / sizeof(counts[0])) * sizeof(*gaps));

    for (size_t i = 0; i < told; i++)
        gaps[n++] = wc_arena_format(memory, "line %zu could not be read: %s",
                                    s->file->damaged.p[i].line, s->file->damaged.p[i].reason);
    WC_EACH_ROW(c, counts)
        if (c->count > 0)
            gaps[n++] = wc_arena_format(memory, c->text, c->count);
    return (struct wc_strings){gaps, n};
}

/* It was in the middle of a call or of a line, or asked for something without success, which it did
 * not outlive: whatever became of the command, this process died. But forked workers of a command
 * that ended well look for a GPU, and are ended by their parent (a pool on a machine without). */
static bool was_cut_off(const struct source *s) {
    const bool is_ended = s->stack.process.forked && s->of_command == WC_END_WELL;
    int64_t seq;
    const char *during = in_flight_last(&s->in_flight, &seq);

    if (s->type != SOURCE_LOG || s->stack.has_summary || s->end == WC_END_RUNS)
        return false;
    if (wc_is_function_of_cudnn(during) || (s->file && s->file->open_end))
        return true;
    return during && WC_ANY(f, s->stack.failures,
                            f->r.inferred && f->asked == seq &&
                                !(is_ended && wc_name_kind_of(f->r.name) == WC_NAME_DRIVER));
}

void report_judge(struct report *r) {
    const struct source *s = r->source;
    struct wc_arena *memory = &r->memory.arena;
    struct wc_outside outside = {.end = s->end, .how = s->how, .lost = source_missing(s)};

    wc_diagnose(&s->stack, memory, &r->findings);
    if (s->file)
        outside.lost += (int64_t)s->file->damaged_lines;
    r->was_cut_off = was_cut_off(s);
    if (s->type != SOURCE_LOG) {
        outside.end = WC_END_RUNS;
    } else if (r->was_cut_off) {
        const char *within = in_flight_last(&s->in_flight, NULL);
        outside.end = WC_END_FAILED;
        outside.how = wc_arena_format(memory, "ended within %s", within ?: "a line");
    }
    wc_conclude(&s->stack, &r->findings, &outside, memory, &r->conclusion);
    find_ending(r);
    r->gaps = find_gaps(memory, s);
}

void report_make(struct report *r, const struct source *source) {
    *r = (struct report){.source = source, .memory = HEAP_ARENA(r->memory)};
    report_judge(r);
    wc_stack_fingerprint(&source->stack, r->fingerprint);
}

void report_plan(struct report *r) {
    static unsigned planned;

    if (r->plan || (r->findings.n == 0 && !r->command))
        return;
    r->plan = must_allocate(sizeof(*r->plan));
    plan_make(r->plan, r->source, &r->findings, r->command,
              planned < PLANS_MOST || r->command ? NULL
                                                 : "others with findings were looked at before it");
    planned++;
}

/* ---- without names ---- */

static void change(struct plan *plan, struct redaction *names, const char **text) {
    if (!*text)
        return;
    redaction_learn_text(names, *text); /* it may name what the log does not */
    OWNED char *other = redaction_text(names, *text);
    *text = heap_copy(&plan->memory, other);
}

static void change_repair(struct plan *plan, struct redaction *names, struct repair *r) {
    const char **texts[] = {&r->text, &r->command, &r->why, &r->gives, &r->from, &r->but};
    struct edit *edits = wc_arena_take(&plan->memory.arena, (r->edits.n + 1) * sizeof(*edits));

    WC_EACH_ROW(text, texts)
        change(plan, names, *text);
    for (size_t i = 0; i < r->edits.n; i++) {
        struct edit *e = &edits[i];
        const char **of_edit[] = {&e->name,   &e->value,       &e->path,
                                  &e->target, &e->environment, &e->by};
        *e = r->edits.p[i];
        WC_EACH_ROW(text, of_edit)
            change(plan, names, *text);
    }
    r->edits.p = edits;
}

static void end_plan(struct report *r) {
    if (r->plan)
        plan_end(r->plan);
    free(r->plan);
    r->plan = NULL;
}

void report_redact(struct report *r, struct redaction *names) {
    const size_t n = r->findings.n;

    report_judge(r);
    if (r->findings.n != n) /* the plan is of other findings */
        end_plan(r);
    for (size_t i = 0; r->plan && r->plan->of && i < n; i++) {
        struct plan_of_finding *of = &r->plan->of[i];
        for (size_t k = 0; k < of->n; k++)
            change_repair(r->plan, names, &of->p[k]);
        for (size_t k = 0; k < of->rejected.n; k++) {
            change(r->plan, names, &of->rejected.p[k].text);
            change(r->plan, names, &of->rejected.p[k].because);
        }
    }
}

const struct plan_of_finding *report_fixes(const struct report *r,
                                           const struct wc_finding_record *f) {
    static const struct plan_of_finding none = {.n = 0};

    return r->plan && r->plan->of ? &r->plan->of[f - r->findings.p] : &none;
}

bool report_is_notice(const struct wc_finding_record *f) {
    return f->severity == WC_severity_NOTE && wc_str_same(f->id, "driver-missing");
}

void report_end(struct report *r) {
    end_plan(r);
    heap_arena_end(&r->memory);
}

enum exit_code report_exit_code(const struct report *r) {
    static const enum exit_code codes[WC_verdict_COUNT] = {
        [WC_verdict_ERRORS] = EXIT_ERRORS_FOUND,
        [WC_verdict_UNEXPLAINED] = EXIT_UNEXPLAINED,
        [WC_verdict_NOT_OBSERVED] = EXIT_NOTHING_OBSERVED,
    };

    if (r->conclusion.verdict == WC_verdict_WARNINGS && r->conclusion.died)
        return EXIT_ERRORS_FOUND;
    return codes[r->conclusion.verdict];
}

void gate_add(struct gate *gate, const struct report *r) {
    enum wc_severity worst = r->findings.n > 0 ? r->findings.p[0].severity : WC_severity_NONE;

    gate->passes = gate->passes && r->conclusion.passes;
    if (worst > gate->worst)
        gate->worst = worst;
}

bool gate_fails(const struct gate *gate, enum wc_severity least) {
    return least != WC_severity_NONE && (gate->worst >= least || !gate->passes);
}

enum exit_code exit_code_of_both(enum exit_code a, enum exit_code b) {
    static const int rank[] = {
        [EXIT_NOTHING_OBSERVED] = 0, [EXIT_NOTHING_WRONG] = 1, [EXIT_UNEXPLAINED] = 2,
        [EXIT_ERRORS_FOUND] = 3,     [EXIT_USAGE] = 4,         [EXIT_NOT_REPAIRED] = 3};

    return rank[a] >= rank[b] ? a : b;
}

#define BESIDE_MOST 64 /* processes of a job that are compared with one another */
#define SCRIPTED (WC_PROGRAM_PYTHON | WC_PROGRAM_SCRIPTED)

static bool same_node(const struct source *a, const struct source *b) {
    return wc_str_same(a->stack.process.node, b->stack.process.node);
}

WC_COMPARE(by_pid, struct source *const, WC_ORDER((*x)->pid, (*y)->pid));

struct job {
    struct source **p; /* by pid */
    size_t n;
};

/* The first with that number, of which several may be there; NULL: none. */
static struct source *const *first_of(const struct job *job, int64_t pid) {
    const struct source wanted = {.pid = pid}, *key = &wanted;
    struct source *const *found = bsearch(&key, job->p, job->n, sizeof(*job->p), by_pid);

    while (found > job->p && found[-1]->pid == pid)
        found--;
    return found;
}

#define EACH_WITH(other, job, number)                                                              \
    for (struct source *const *other = first_of(job, number);                                      \
         other && other < (job)->p + (job)->n && (*other)->pid == (number); other++)

/* A parent of workers sees their ends, and says so by its own end. What multiprocessing spawns is a
 * "python -c"; those that wait for it look at its status. */
static bool has_keeper(const struct job *job, const struct source *s) {
    const struct wc_process_record *p = &s->stack.process;
    const struct wc_strings *a = &p->arguments;
    const bool spawned = a->n > 1 && wc_program_is(a->p[0], SCRIPTED) && !strcmp(a->p[1], "-c");

    if (!p->forked && p->parent_name &&
        (wc_program_is(p->parent_name, WC_PROGRAM_SHELL | WC_PROGRAM_KEEPER) ||
         (wc_program_is(p->parent_name, SCRIPTED) && !spawned)))
        return false;
    EACH_WITH(parent, job, p->parent_pid)
        if (same_node(*parent, s) &&
            (wc_ended_well(&(*parent)->stack) ||
             (!(*parent)->stack.has_outcome && (*parent)->stack.has_summary)))
            return true;
    return s->of_command == WC_END_WELL && (p->forked || (p->parent_name && p->parent_pid > 1));
}

static enum wc_end end_of(const struct job *job, const struct source *s) {
    if (s->of_command == WC_END_FAILED)
        return WC_END_FAILED;
    if (s->stack.has_summary)
        return WC_END_NORMAL;
    if (writer_state(s) == WRITER_RUNS)
        return WC_END_RUNS;
    EACH_WITH(other, job, s->pid) /* it went on as another program */
        if (*other != s && same_node(*other, s) && (*other)->first_time > s->last_time &&
            (*other)->stack.process.start_ticks == s->stack.process.start_ticks)
            return WC_END_WELL;
    return has_keeper(job, s) ? WC_END_ASSUMED : WC_END_UNKNOWN;
}

static bool has_started(const struct source *s, const struct source *other) {
    return other->stack.process.parent_pid == s->pid && s->first_time <= other->first_time;
}

/* Another program of the same command, of which the list has none yet. */
static bool is_beside(const struct source *other, const struct source *s) {
    const struct wc_process_record *p = &s->stack.process, *q = &other->stack.process;
    const char *program = source_program(other);

    return p->run_pid != WC_NULL && p->run_pid == q->run_pid && same_node(other, s) &&
           source_program(s) && program && !wc_str_same(source_program(s), program) &&
           image_counts(other) &&
           !WC_ANY(known, s->beside, wc_str_same(source_program(*known), program));
}

/* Each gets a variable that the command gets; what it starts itself is not another program of it.
 */
static void set_beside(struct source *s, struct source *const *processes, size_t n) {
    s->beside.n = 0;
    s->stack.beside = NULL;
    for (size_t i = 0; i < n && n <= BESIDE_MOST && s->beside.n < SOURCE_BESIDE_MOST; i++) {
        const struct source *other = processes[i];
        if (!is_beside(other, s))
            continue;
        s->beside.p[s->beside.n++] = other;
        if (!s->stack.beside && wc_first_facade(&other->stack) && !has_started(s, other) &&
            !has_started(other, s))
            s->stack.beside = source_program(other);
    }
}

void ends_settle(struct source *const *processes, size_t n) {
    struct job job = {must_allocate(n * sizeof(struct source *)), n};

    for (size_t i = 0; i < n; i++)
        job.p[i] = processes[i];
    SORT(job, by_pid);
    EACH_POINTER(s, processes, n) {
        const int64_t parents[] = {s->stack.process.parent_pid, s->stack.process.run_pid};
        if (s->type == SOURCE_LOG && !s->stack.has_outcome)
            s->end = end_of(&job, s);
        s->stack.is_kept = has_keeper(&job, s);
        set_beside(s, processes, n);
        /* Its parent, or the command that it is of, outlived what itself had requested before. */
        WC_EACH_ROW(pid, parents)
            EACH_WITH(parent, &job, *pid)
                if (*parent != s && same_node(*parent, s) &&
                    (*parent)->stack.failed_child < s->first_time &&
                    WC_ANY(f, s->stack.failures, wc_name_is_cudnn(wc_missing_of(f))))
                    (*parent)->stack.failed_child = s->first_time;
    }
    free(job.p);
}
