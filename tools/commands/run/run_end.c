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
#include "outcome.h"
#include "shell_script.h"
#include "startup_source.h"
#include "tools/commands/last_request.h"
#include "tools/commands/options.h"
#include "tools/commands/probe/gpus.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/process_state.h"
#include "tools/observe/not_preloadable.h"
#include "tools/report/ends.h"
#include "tools/report/render.h"
#include "tools/util/layout.h"
#include "unseen.h"

#define ROWS_SHOWN 8
#define LOADER_STATUS 127 /* with which glibc's loader ends a program that it cannot start */
#define VERSION_STATUS 1  /* the same for want of a symbol version */
#define VERDICT_MOST 4096 /* a pod's termination message is cut there */

/* ---- the outcome, where it is kept ---- */

static char *outcome_path(const struct log_place *place, int64_t child) {
    const char *name = place->value + strlen(place->directory);
    struct utsname node;

    if (name[strspn(name, "/")])
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
    OWNED char *of_computer = NULL;
    bool asked = false;

    for (size_t i = 0; i < logs->n; i++) {
        struct source *log = logs->found[i];
        struct wc_record r;
        char *fault;
        bool has_cudnn = WC_ANY(o, log->stack.objects, o->r.role == WC_role_FACADE);
        if (!log->stack.has_machine || !has_cudnn ||
            (log != logs->own && process_state(log) == PROCESS_RUNS))
            continue;
        if (!asked) {
            gpus_ask(&gpus);
            of_computer = driver_fault();
        }
        asked = true;
        fault = of_computer ? must_copy(of_computer) : driver_fault_of_mps(&log->stack);
        wc_record_begin(&r, WC_KIND_machine);
        r.u.machine = log->stack.machine;
        r.u.machine.gpus = (struct wc_strings){gpus.name, gpus.n};
        r.u.machine.device_fault = fault;
        if ((gpus.n || fault) && !outcome_append(log, &r))
            complain("%s: %s", log->path, strerror(errno));
        free(fault);
    }
}

/* ---- damaged files ---- */

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
        bool may_be =
            log == logs->own ? o->ending == WC_ending_SIGNALED : process_state(log) != PROCESS_RUNS;
        if (may_be && !log->stack.has_summary)
            last_request_emit(log, &to);
    }
}

/* ---- what is printed ---- */

/* A status of its own says all; a loader that gives up within a call ends the process, too. What
 * the command started says only that it came to no good end. */
static bool ended_within(const struct source *log) {
    const struct wc_outcome_record *o = &log->stack.outcome;

    if (!log->stack.has_outcome)
        return !log->stack.has_summary && (log->end == WC_END_UNKNOWN || log->end == WC_END_FAILED);
    return o->ending == WC_ending_SIGNALED ||
           (o->ending == WC_ending_EXITED && o->exit_status != 0 && o->during &&
            !log->stack.has_summary);
}

/* Of one process, what its finding has not told. */
static void print_end(const struct run *run, const struct summary_row *row) {
    const struct source *log = row->report->source;

    if (run->live.stopped && log->pid == run->child.pid)
        print_format(stderr, "  ended    by --stop-on, %s\n", row->report->ending);
    else if (ended_within(log) && (!row->finding || row->told))
        print_format(stderr, "  ended    %s\n", row->report->ending);
    if (log->stack.outcome.reason)
        print_format(stderr, "  mind     %s\n", log->stack.outcome.reason);
}

/* Where what it says comes from: the log, or the place of several. */
static char *origin_of(const struct run *run, const struct summary *s) {
    const struct merged *m = s->m;

    if (run->place.passing)
        return NULL;
    if (s->counted <= 1)
        return must_copy(s->rows[0].report->source->path);
    return must_format("%s (%zu logs)", run->place.directory, m->n);
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

static void print_summary(struct run *run, struct summary *s) {
    struct layout l = {.to = stderr, .colour = options.colour, .whole = true};
    OWNED char *origin = origin_of(run, s);

    for (size_t i = 0; i < s->m->n; i++)
        note_told_by_shim(run, s->m->p[i].report->source);
    for (size_t i = 0; i < s->n; i++)
        s->rows[i].told =
            s->rows[i].finding && run_monitor_reported(&run->live, s->rows[i].finding->title);
    render_summary(&l, s, &(struct summary_view){"whichcudnn: ", origin, ROWS_SHOWN});
    if (s->counted <= 1)
        print_end(run, &s->rows[0]);
}

static bool is_disabled(void) {
    const char *disabled = getenv("WHICHCUDNN_DISABLE");

    return disabled && strcmp(disabled, "1") == 0;
}

static char *with_left_running(const struct run *run, const char *reason) {
    pid_t one = 0;
    size_t n = left_running(run->child.pid, &one);

    if (n == 0)
        return must_copy(reason);
    return n == 1 ? must_format("%s so far; process %d, which it started, still runs", reason,
                                (int)one)
                  : must_format("%s so far; %zu processes that it started still run", reason, n);
}

/* No log: either nothing of cuDNN was in it, or the shim could not be. The caller frees. */
static char *reason_of_silence(const struct run *run, const char *reason) {
    if (reason)
        return must_copy(reason);
    if (is_disabled())
        return must_copy("WHICHCUDNN_DISABLE is set");
    if (outcome_exit_code(&run->child) > 128)
        return must_copy("it ended before anything was asked for");
    if (run->unsure && outcome_exit_code(&run->child) != 0)
        return must_copy("it failed, and its script does not tell what it starts");
    return with_left_running(run, "no cuDNN was loaded or asked for");
}

/* ---- the verdict's file ---- */

/* Neither opened nor written may it hold the command's status up: a FIFO without a reader does. */
void run_leave_verdict(const struct run *run, const char *words) {
    OWNED char *harmless = harmless_text(words);
    OWNED char *line = must_format("%.*s\n", VERDICT_MOST - 1, harmless);
    const char *rest = line;
    OWNED_FD int fd = open(run->verdict_file,
                           O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    ssize_t n = fd;

    while (n >= 0 && *rest && (n = write(fd, rest, strlen(rest))) > 0)
        rest += n;
    if (*rest)
        complain("%s: the verdict was not written: %s", run->verdict_file,
                 fd < 0 && errno == ENXIO ? "no process reads from it" : strerror(errno));
}

static void leave_verdict_of(const struct run *run, const struct summary *s) {
    const struct summary_row *first = &s->rows[0];
    const struct plan_of_finding *fix =
        first->finding ? report_fixes(first->report, first->finding) : NULL;
    OWNED char *verdict = render_summary_text(s, first), *origin = origin_of(run, s), *text = NULL;
    struct sink sink;
    FILE *to = sink_begin(&sink);

    fputs(verdict, to);
    if (fix && fix->n > 0)
        fprintf(to, "; %s: %s", repair_label(&fix->p[0]),
                fix->p[0].command ? fix->p[0].command : fix->p[0].text);
    if (s->counted <= 1 && ended_within(first->report->source))
        fprintf(to, "; ended %s", first->report->ending);
    if (origin)
        fprintf(to, "; log: %s", origin);
    text = sink_end(&sink);
    run_leave_verdict(run, text);
}

/* ---- the end ---- */

/* How the command ended is written into the logs of those that it started, too. That it failed says
 * something of them only where no error that was seen explains it: what works by luck may not be
 * why. */
static void tell_ends(struct report *reports, size_t n, const struct child_logs *logs,
                      const struct wc_record *outcome) {
    bool failed = outcome->u.outcome.ending != WC_ending_EXITED || outcome->u.outcome.exit_status;

    for (size_t i = 0; failed && i < n; i++)
        if (reports[i].conclusion.verdict == WC_verdict_ERRORS)
            return;
    for (size_t i = 0; i < n; i++) {
        struct source *log = logs->found[i];
        struct wc_record r = *outcome;
        if (log == logs->own || log->stack.has_outcome)
            continue;
        if (process_state(log) == PROCESS_RUNS) /* it numbers its records itself */
            source_apply(log, &r);
        else if (!outcome_append(log, &r))
            complain("%s: %s", log->path, strerror(errno));
    }
    ends_settle(logs->found, n);
    for (size_t i = 0; i < n; i++)
        report_judge(&reports[i]);
}

static void print_answer(struct run *run, struct report *reports, size_t n) {
    struct summary summary;
    struct merged m;

    merge(&m, reports, n);
    summary_make(&summary, &m);
    if (!run->quiet)
        print_summary(run, &summary);
    if (run->verdict_file)
        leave_verdict_of(run, &summary);
    summary_end(&summary);
    merged_end(&m);
}

/* outcome: of the command, as logs of others get it. */
static struct gate conclude_logs(struct run *run, const struct child_logs *logs,
                                 const struct wc_record *outcome) {
    size_t n = logs->n;
    struct report *reports = must_allocate(n * sizeof(*reports));
    struct gate answer = {.passes = true};

    ends_settle(logs->found, n);
    for (size_t i = 0; i < n; i++)
        report_make(&reports[i], logs->found[i]);
    tell_ends(reports, n, logs, outcome);
    for (size_t i = 0; i < n; i++)
        gate_add(&answer, &reports[i]);
    for (size_t i = 0; i < n && (!run->quiet || run->verdict_file); i++)
        report_plan(&reports[i]);
    if (!run->quiet || run->verdict_file)
        print_answer(run, reports, n);
    for (size_t i = 0; i < n; i++)
        report_end(&reports[i]);
    free(reports);
    return answer;
}

/* Our own environment with that for LD_PRELOAD. NULL: as the loader has it in secure-execution mode
 * (ld.so(8)). The caller frees the list, not what is in it. */
static char **environment_with(char *preload) {
    size_t n = 0;
    char **list = NULL;

    for (char **v = environ; *v; v++)
        if (!wc_str_starts(*v, "LD_PRELOAD=") &&
            (preload || !wc_str_starts(*v, "LD_LIBRARY_PATH=")))
            *MUST_ADD(list, n) = *v;
    if (preload)
        *MUST_ADD(list, n) = preload;
    *MUST_ADD(list, n) = NULL;
    return list;
}

/* glibc's loader refuses a program with status 127, for want of a symbol version with 1; one that
 * needs a damaged library may be ended by a signal. What a script makes of that is its own affair,
 * as long as it fails, too, or lets it go. False: it did not end in the loader. */
static bool read_end(const struct wc_outcome_record *o, const struct shell_program *program,
                     enum startup_end *end) {
    int64_t status = o->ending == WC_ending_EXITED ? o->exit_status : 0;

    *end = status == LOADER_STATUS    ? STARTUP_REFUSED
           : status == VERSION_STATUS ? STARTUP_VERSION
                                      : STARTUP_DAMAGED;
    if (program->by_script && status != 0)
        *end = STARTUP_ANY;
    if (program->passed_over && status == 0 && o->ending == WC_ending_EXITED)
        *end = STARTUP_PASSED_OVER;
    /* Damage is to touch pages that a file does not have, or tables that are zeros. */
    return *end != STARTUP_DAMAGED ||
           (o->ending == WC_ending_SIGNALED && (o->signal == SIGBUS || o->signal == SIGSEGV));
}

/* By the last name that the kernel had for the command: what it has become by exec is what ended.
 */
static bool is_called(const char *path, const char *last_name) {
    const size_t most = sizeof(((struct family *)NULL)->last_name) - 1;

    return strncmp(wc_base_name(path), last_name, most) == 0;
}

/* logged: others of the command left logs, which say how it fared. */
static struct source *look_at_program(const struct run *run, const struct shell_program *program,
                                      struct wc_record *r, bool logged, char **reason) {
    struct wc_outcome_record *o = &r->u.outcome;
    const struct log_place *place = &run->place;
    bool is_kept = place->directory && !strchr(place->value, '%');
    OWNED char *path = is_kept ? outcome_path(place, o->child) : NULL;
    struct startup start = {.program = program->path,
                            .environment = program->environment,
                            .child = o->child,
                            .path = path};
    struct source *started;

    if (!read_end(o, program, &start.end) ||
        (logged && !program->passed_over &&
         (!program->by_script || o->exit_status != LOADER_STATUS)))
        return NULL;
    if (logged)
        start.end = STARTUP_PASSED_OVER;
    started = startup_source(&start, reason);
    if (!started)
        return NULL;
    if (start.end == STARTUP_PASSED_OVER) { /* how it ended itself nobody saw */
        o->ending = WC_ending_UNKNOWN;
        o->exit_status = WC_NULL;
    }
    o->reason = start.end == STARTUP_PASSED_OVER
                    ? "what a script started ended in the loader, before anything of it ran, and "
                      "the script went on: this is what its files and the script say"
                : program->by_script
                    ? "what a script started ended in the loader, before anything of it ran: this "
                      "is what its files and the script say"
                    : "it ended in the loader, before anything of it ran: this is what its files "
                      "say";
    if (!outcome_add(started, r))
        complain("%s: %s", started->path, strerror(errno));
    return started;
}

/* The shim never woke, nor did the program: what its files print of that. */
static struct source *look_at_start(struct run *run, struct wc_record *r, bool logged,
                                    char **reason) {
    const char *last_name = run->live.family.last_name;
    OWNED char *preload = must_format("LD_PRELOAD=%s", run->preload);
    char **environment = environment_with(preload);
    struct source *started = NULL;
    struct shell_programs programs;
    bool is_known;

    shell_programs_of(&programs, run->words, environment);
    run->unsure = programs.unsure;
    is_known = WC_ANY(p, programs, last_name[0] && p->by_script && is_called(p->path, last_name));
    for (size_t i = 0; i < programs.n && !started && !is_disabled(); i++)
        if (!is_known || is_called(programs.p[i].path, last_name))
            started = look_at_program(run, &programs.p[i], r, logged, reason);
    shell_programs_end(&programs);
    free(environment);
    return started;
}

static void print_nothing_observed(const struct run *run, struct wc_record *outcome,
                                   const char *reason) {
    OWNED char *why = reason_of_silence(run, reason), *text = must_format("not observed: %s", why);

    if (reason)
        leave_outcome(&run->place, outcome, reason);
    if (!run->quiet)
        complain("%s", text);
    if (run->verdict_file)
        run_leave_verdict(run, text);
}

/* Where the loader preloads nothing for the rights of the program, it takes LD_LIBRARY_PATH out of
 * the environment, too: says what it then did not find. */
static void add_what_is_missing(const struct wc_record *r, const char *program, char **reason) {
    const struct wc_outcome_record *o = &r->u.outcome;
    OWNED char *rights = unobserved_rights(program), *missing = NULL;
    char **environment;
    struct startup start = {
        .program = program, .child = o->child, .end = STARTUP_REFUSED, .only_reason = true};

    if (!rights || o->ending != WC_ending_EXITED || o->exit_status != LOADER_STATUS)
        return;
    start.environment = environment = environment_with(NULL);
    startup_source(&start, &missing);
    free(environment);
    if (missing) {
        char *both = must_format("%s, and heeds no LD_LIBRARY_PATH for it; %s", *reason, missing);
        free(*reason);
        *reason = both;
    }
}

/* No log was left. */
static struct gate conclude_unobserved(struct run *run, struct wc_record *outcome,
                                       const char *unseen) {
    OWNED char *program = NULL, *reason = unobserved_reason(run->command, &program);
    struct source *started = reason ? NULL : look_at_start(run, outcome, false, &reason);
    struct gate answer;

    if (reason && program)
        add_what_is_missing(outcome, program, &reason);
    if (!started && !reason && unseen && !is_disabled())
        reason = must_copy(unseen);
    if (started) {
        const struct child_logs alone = {.found = &started, .n = 1, .own = started};
        answer = conclude_logs(run, &alone, outcome);
        source_free(started);
    } else {
        print_nothing_observed(run, outcome, reason);
        answer = (struct gate){.passes = !reason && !is_disabled()};
    }
    return answer;
}

/* What a script started may have ended in the loader beside others that did well. */
static struct gate conclude_observed(struct run *run, const struct child_logs *logs,
                                     const struct wc_record *outcome) {
    struct wc_record r = *outcome;
    OWNED char *reason = NULL;
    struct source *started = look_at_start(run, &r, true, &reason);
    struct child_logs both = *logs;
    struct gate answer;

    if (!started)
        return conclude_logs(run, logs, outcome);
    both.found = must_allocate((logs->n + 1) * sizeof(*both.found));
    memcpy(both.found, logs->found, logs->n * sizeof(*both.found));
    both.found[both.n++] = started;
    answer = conclude_logs(run, &both, outcome);
    free(both.found);
    source_free(started);
    return answer;
}

struct gate run_conclude(struct run *run) {
    struct gate answer;
    struct child_logs logs;
    struct wc_record r;
    char *unseen;

    child_logs_find(&logs, &run->place, &run->live.family, run->child.pid, run->start);
    unseen = unseen_reason(run, &logs);
    outcome_begin(&r, &run->child);
    /* The log of what a signal ended is kept; what was replaced by exec did not end so. */
    child_logs_drop_empty(&logs, run->child.pid,
                          r.u.outcome.ending == WC_ending_SIGNALED &&
                              (!logs.own || was_the_last(logs.own, &run->live.family)));
    look_at_last_requests(&logs, &r.u.outcome);
    add_gpus(&logs);
    if (logs.own && !outcome_add(logs.own, &r))
        complain("%s: %s", logs.own->path, strerror(errno));
    if (logs.n == 0) {
        answer = conclude_unobserved(run, &r, unseen);
    } else {
        answer = conclude_observed(run, &logs, &r);
        answer.passes = answer.passes && !unseen;
        if (unseen && !run->quiet)
            complain("not observed: %s", unseen);
    }
    free(unseen);
    child_logs_end(&logs);
    return answer;
}

void run_not_started(const struct run *run) {
    OWNED char *text = must_format("%s: %s", run->command, strerror(run->child.exec_error));
    struct wc_record r;

    complain("%s", text);
    if (run->verdict_file)
        run_leave_verdict(run, text);
    outcome_begin(&r, &run->child);
    leave_outcome(&run->place, &r, strerror(run->child.exec_error));
}
