/* SPDX-License-Identifier: Apache-2.0 */
#include "run_end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "child_logs.h"
#include "not_preloadable.h"
#include "outcome.h"
#include "tools/commands/options.h"
#include "tools/loader/last_request.h"
#include "tools/loader/startup_source.h"
#include "tools/probe/gpus.h"
#include "tools/report/ends.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"
#include "unseen.h"

#define REPORTS_SHOWN 8
#define LOADER_STATUS 127 /* with which glibc's loader ends a program that it cannot start */
#define VERDICT_MOST 4096 /* a pod's termination message is cut there */

/* ---- the outcome, where it is kept ---- */

static char *outcome_path(const struct log_place *place, int64_t child) {
    struct utsname node;

    if (strcmp(place->value, place->directory) != 0)
        return must_copy(place->value);
    if (uname(&node) != 0)
        return NULL;
    return must_format("%s/whichcudnn-%s-%lld-outcome.jsonl", place->directory, node.nodename,
                       (long long)child);
}

/* Where the place of logs was named, somebody will look there for the reason. */
static void leave_outcome(const struct log_place *place, struct wc_record *r, const char *reason) {
    char *path, *other;

    if (!place->named || !place->directory || strchr(place->value, '%'))
        return;
    r->u.outcome.reason = reason;
    path = outcome_path(place, r->u.outcome.child);
    if (path && !outcome_write(path, true, r)) {
        other = log_place_other_name(path, r->u.outcome.child);
        if (errno != EEXIST || !outcome_write(other, true, r))
            complain("%s: %s", path, strerror(errno));
        free(other);
    }
    free(path);
}

/* Which GPUs there are matters to whoever got a cuDNN, and costs a start of the driver. A process
 * that still runs numbers its records itself. */
static void add_gpus(const struct child_logs *logs) {
    struct gpus gpus = {.n = 0};
    bool asked = false;

    for (size_t i = 0; i < logs->n; i++) {
        struct source *log = logs->found[i];
        struct wc_record r;
        bool has_cudnn = WC_ANY(o, log->stack.objects, o->r.role == WC_role_FACADE);
        if (!log->stack.has_machine || !has_cudnn || (log != logs->own && !log->stack.has_summary))
            continue;
        if (!asked)
            gpus_ask(&gpus);
        asked = true;
        wc_record_begin(&r, WC_KIND_machine);
        r.u.machine = log->stack.machine;
        r.u.machine.gpus = (struct wc_strings){gpus.name, gpus.n};
        if (gpus.n && !outcome_append(log, &r))
            complain("%s: %s", log->path, strerror(errno));
    }
}

/* ---- damaged files ---- */

/* What touches pages that a file does not have, or tables that are zeros. */
static bool is_of_damage(const struct wc_outcome_record *o) {
    return o->ending == WC_ending_SIGNALED && (o->signal == SIGBUS || o->signal == SIGSEGV);
}

static void append(void *log, struct wc_record *r) {
    struct source *own = log;

    if (!outcome_append(own, r))
        complain("%s: %s", own->path, strerror(errno));
}

/* Of what the command started the end is not known. */
static void look_at_last_requests(const struct child_logs *logs,
                                  const struct wc_outcome_record *o) {
    for (size_t i = 0; i < logs->n; i++) {
        struct source *log = logs->found[i];
        const struct wc_sink to = {append, log};
        bool may_be = log == logs->own ? is_of_damage(o) : kill((pid_t)log->pid, 0) != 0;
        if (may_be && !log->stack.has_summary)
            last_request_emit(log, &to);
    }
}

/* ---- what is printed ---- */

/* A status of its own says all; a loader that gives up within a call ends the process, too. Of
 * what the command started the end is not known: without a summary it was no normal one. */
static bool ended_within(const struct wc_stack *s) {
    const struct wc_outcome_record *o = &s->outcome;

    if (!s->has_outcome)
        return !s->has_summary;
    return o->ending == WC_ending_SIGNALED ||
           (o->ending == WC_ending_EXITED && o->exit_status != 0 && o->during && !s->has_summary);
}

static void print_end(const struct run *run, const struct report *r) {
    const struct source *log = r->source;

    if (run->live.stopped && log->pid == run->child.pid)
        print_format(stderr, "  ended    by --stop-on, %s\n", r->ending);
    else if (ended_within(&log->stack))
        print_format(stderr, "  ended    %s\n", r->ending);
    if (log->stack.outcome.reason)
        print_format(stderr, "  mind     %s\n", log->stack.outcome.reason);
    if (log->path[0] && !run->place.passing)
        print_format(stderr, "  log      %s\n", log->path);
}

static void print_report(struct run *run, const struct report *r, bool told) {
    const struct wc_finding_record *first = r->findings.p;

    fputs("whichcudnn: ", stderr);
    if (told)
        print_format(stderr, "%s: told above (%s)\n",
                     wc_enum_word(WC_ENUM_severity, first->severity), first->id);
    else
        render_brief(stderr, r, options.colour);
    print_end(run, r);
    for (size_t i = 0; i < r->findings.n; i++)
        run_monitor_report(&run->live, r->findings.p[i].title);
}

/* What a shim that speaks for itself, as somebody wished, has printed. */
static void note_told_by_shim(struct run *run, const struct source *log) {
    const char *says = getenv("WHICHCUDNN_STDERR");
    const struct wc_noted_finding *f = log->stack.findings.p;
    bool all = says && strcmp(says, "all") == 0;

    if (!says || strcmp(says, "off") == 0)
        return;
    for (size_t i = 0; i < log->stack.findings.n; i++)
        if (all || f[i].r.severity == WC_severity_ERROR)
            run_monitor_report(&run->live, f[i].r.title);
}

/* Ranks of one job find the same: it is printed once. */
static void print_reports(struct run *run, const struct report *reports, size_t n) {
    size_t shown = 0, same = 0;

    for (size_t i = 0; i < n; i++)
        note_told_by_shim(run, reports[i].source);
    for (size_t i = 0; i < n && shown < REPORTS_SHOWN; i++) {
        bool told = run_monitor_reported(&run->live, &reports[i]);
        if (told && shown > 0 && reports[i].source->pid != run->child.pid) {
            same++;
        } else {
            print_report(run, &reports[i], told);
            shown++;
        }
    }
    if (same > 0)
        complain("the same in %zu more logs of processes that it started", same);
    if (n > shown + same)
        complain("%zu more logs of processes that it started", n - shown - same);
}

static bool is_disabled(void) {
    const char *disabled = getenv("WHICHCUDNN_DISABLE");

    return disabled && strcmp(disabled, "1") == 0;
}

/* No log: either nothing of cuDNN was in it, or the shim could not be. */
static const char *reason_of_silence(const struct child *child, const char *reason) {
    if (reason)
        return reason;
    if (is_disabled())
        return "WHICHCUDNN_DISABLE is set";
    return outcome_exit_code(child) > 128 ? "it ended before anything was asked for"
                                          : "no cuDNN was loaded or asked for";
}

/* ---- the verdict's file ---- */

static void leave_verdict(const struct run *run, const char *words) {
    char *harmless = harmless_text(words);
    char *line = must_format("%.*s\n", VERDICT_MOST - 1, harmless);
    ssize_t n = (ssize_t)strlen(line);
    int fd = open(run->verdict_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644);

    if (fd < 0 || write(fd, line, (size_t)n) != n)
        complain("%s: %s", run->verdict_file, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(line);
    free(harmless);
}

static void leave_verdict_of(const struct run *run, const struct report *r) {
    const struct wc_fixes *fix = r->findings.n > 0 ? &r->findings.p[0].fix : NULL;
    OWNED char *verdict = render_verdict_text(r), *text = NULL;
    struct sink sink;
    FILE *to = sink_begin(&sink);

    fputs(verdict, to);
    if (fix && fix->n > 0)
        fprintf(to, "; fix: %s", fix->p[0].command ? fix->p[0].command : fix->p[0].text);
    if (ended_within(&r->source->stack))
        fprintf(to, "; ended %s", r->ending);
    if (r->source->path[0] && !run->place.passing)
        fprintf(to, "; log: %s", r->source->path);
    text = sink_end(&sink);
    leave_verdict(run, text);
}

static enum wc_severity severity_of(const struct report *r) {
    return r->findings.n > 0 ? r->findings.p[0].severity : WC_severity_NONE;
}

/* ---- the end ---- */

/* How the command ended is written into the logs of those that it started, too. That it failed says
 * something of them only where nothing that was seen explains it. */
static void tell_ends(struct report *reports, size_t n, const struct child_logs *logs,
                      const struct wc_record *outcome) {
    bool failed = outcome->u.outcome.ending != WC_ending_EXITED || outcome->u.outcome.exit_status;
    enum wc_verdict worst = WC_verdict_NONE;

    for (size_t i = 0; i < n; i++)
        if (reports[i].conclusion.verdict > worst)
            worst = reports[i].conclusion.verdict;
    if (failed && worst >= WC_verdict_WARNINGS)
        return;
    for (size_t i = 0; i < n; i++) {
        struct source *log = logs->found[i];
        struct wc_record r = *outcome;
        if (log == logs->own || log->stack.has_outcome)
            continue;
        if (source_runs(log)) /* it numbers its records itself */
            source_apply(log, &r);
        else if (!outcome_append(log, &r))
            complain("%s: %s", log->path, strerror(errno));
    }
    ends_settle(logs->found, n);
    for (size_t i = 0; i < n; i++)
        report_conclude(&reports[i]);
}

static struct report *find_worst(struct report *reports, size_t n) {
    struct report *worst = reports;

    for (size_t i = 1; i < n; i++)
        if (reports[i].conclusion.verdict > worst->conclusion.verdict)
            worst = &reports[i];
    return worst;
}

/* outcome: of the command, as logs of others get it; NULL: there are none. */
static struct run_answer print_merged_reports(struct run *run, const struct child_logs *logs,
                                              const struct wc_record *outcome) {
    size_t n = logs->n;
    struct report *reports = must_allocate(n * sizeof(*reports)), *worst;
    struct run_answer answer = {.passes = true};

    ends_settle(logs->found, n);
    for (size_t i = 0; i < n; i++)
        report_make(&reports[i], logs->found[i]);
    tell_ends(reports, n, logs, outcome);
    worst = find_worst(reports, n);
    answer.worst = severity_of(worst);
    for (size_t i = 0; i < n; i++)
        answer.passes = answer.passes && reports[i].conclusion.passes;
    if (!run->quiet)
        print_reports(run, reports, n);
    if (run->verdict_file)
        leave_verdict_of(run, worst);
    for (size_t i = 0; i < n; i++)
        report_end(&reports[i]);
    free(reports);
    return answer;
}

/* The shim never woke, nor did the program: what its files print of that. A program that the loader
 * refuses ends with status 127; one that needs a damaged library may be ended by a signal. */
static struct source *look_at_start(const struct run *run, const char *program, struct wc_record *r,
                                    char **reason) {
    const struct log_place *place = &run->place;
    struct wc_outcome_record *o = &r->u.outcome;
    struct source *started;
    char *path;

    bool refused = o->ending == WC_ending_EXITED && o->exit_status == LOADER_STATUS;
    if (!program || !(refused || is_of_damage(o)) || is_disabled())
        return NULL;
    path = place->directory && !strchr(place->value, '%') ? outcome_path(place, o->child) : NULL;
    started = startup_source(&(struct startup){.program = program,
                                               .preload = run->preload,
                                               .child = o->child,
                                               .path = path,
                                               .damaged = !refused},
                             reason);
    free(path);
    if (!started)
        return NULL;
    o->reason = "it ended in the loader, before anything of it ran: this is what its files say";
    if (!outcome_add(started, r))
        complain("%s: %s", started->path, strerror(errno));
    return started;
}

static void print_nothing_observed(const struct run *run, struct wc_record *outcome,
                                   const char *reason) {
    char *text;

    if (reason)
        leave_outcome(&run->place, outcome, reason);
    text = must_format("not observed: %s", reason_of_silence(&run->child, reason));
    if (!run->quiet)
        complain("%s", text);
    if (run->verdict_file)
        leave_verdict(run, text);
    free(text);
}

/* No log was left. */
static struct run_answer conclude_unobserved(struct run *run, struct wc_record *outcome,
                                             const char *unseen) {
    char *program = NULL, *reason = unobserved_reason(run->command, &program);
    struct source *started = reason ? NULL : look_at_start(run, program, outcome, &reason);
    struct run_answer answer;

    if (!started && !reason && unseen && !is_disabled())
        reason = must_copy(unseen);
    if (started) {
        const struct child_logs alone = {.found = &started, .n = 1, .own = started};
        answer = print_merged_reports(run, &alone, outcome);
        source_free(started);
    } else {
        print_nothing_observed(run, outcome, reason);
        answer = (struct run_answer){.passes = !reason && !is_disabled()};
    }
    free(program);
    free(reason);
    return answer;
}

struct run_answer run_conclude(struct run *run) {
    struct run_answer answer;
    struct child_logs logs;
    struct wc_record r;
    char *unseen;

    child_logs_find(&logs, &run->place, &run->live.family, run->child.pid, run->start);
    unseen = unseen_reason(run, &logs);
    outcome_begin(&r, &run->child);
    child_logs_drop_empty(&logs, run->child.pid, r.u.outcome.ending == WC_ending_SIGNALED);
    look_at_last_requests(&logs, &r.u.outcome);
    add_gpus(&logs);
    if (logs.own && !outcome_add(logs.own, &r))
        complain("%s: %s", logs.own->path, strerror(errno));
    if (logs.n == 0) {
        answer = conclude_unobserved(run, &r, unseen);
    } else {
        answer = print_merged_reports(run, &logs, &r);
        answer.passes = answer.passes && !unseen;
        if (unseen && !run->quiet)
            complain("not observed: %s", unseen);
    }
    free(unseen);
    child_logs_end(&logs);
    return answer;
}

void run_not_started(const struct run *run) {
    char *text = must_format("%s: %s", run->command, strerror(run->child.exec_error));
    struct wc_record r;

    complain("%s", text);
    if (run->verdict_file)
        leave_verdict(run, text);
    outcome_begin(&r, &run->child);
    leave_outcome(&run->place, &r, strerror(run->child.exec_error));
    free(text);
}
