/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <envz.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/demand/questions.h"
#include "startup.h"
#include "tools/commands/options.h"
#include "tools/commands/probe/gpus.h"
#include "tools/diagnose/plan.h"
#include "tools/diagnose/setter.h"
#include "tools/observe/log/source.h"
#include "tools/observe/preload.h"
#include "tools/report/render.h"
#include "tools/util/disk.h"
#include "tools/util/terminal.h"

#define VERDICT_MOST 4096 /* a pod's termination message is cut there */

/* What only this process can add: the requests from which one did not come back, and the machine's
 * GPUs. Of what the command started the end is not known; what still runs numbers its records
 * itself. */
static void complete_logs(const struct child_logs *logs, const struct wc_outcome_record *o) {
    struct gpus gpus = {.n = 0};
    OWNED char *of_computer = NULL;
    bool asked = false;

    EACH_POINTER(log, logs->found, logs->n) {
        const struct wc_sink to = {outcome_append, log};
        const bool own = log == logs->own, binding = own && o->exit_status == LOADER_STATUS;
        const bool runs = !own && writer_state(log) == WRITER_RUNS;
        struct wc_record r;
        if ((own ? binding || o->ending == WC_ending_SIGNALED : !runs) && !log->stack.has_summary)
            last_request_emit(log, binding, &to);
        if (!runs && (o->exit_status > 0 || o->ending == WC_ending_SIGNALED))
            failed_requests_tell(log, &to);
        /* Which GPUs there are matters to processes that got a cuDNN, and costs a start of the
         * driver. */
        if (runs || !log->stack.has_machine ||
            !WC_ANY(object, log->stack.objects, object->r.role == WC_role_FACADE))
            continue;
        if (!asked) {
            gpus_ask(&gpus);
            of_computer = driver_fault();
        }
        asked = true;
        OWNED char *fault = of_computer ? must_copy(of_computer) : driver_fault_of_mps(&log->stack);
        wc_record_begin(&r, WC_KIND_machine);
        r.u.machine = log->stack.machine;
        r.u.machine.gpus = (struct wc_strings){gpus.name, gpus.n};
        r.u.machine.device_fault = fault;
        if (gpus.n || fault)
            outcome_append(log, &r);
    }
}

/* A file that holds more than this one process is not ours to remove, nor is another one that has
 * come into its place. False: it is kept. */
static bool remove_if_nothing(const struct source *p) {
    struct stat facts;

    return p->stack.process.eager && p->file->records == p->records &&
           p->file->damaged_lines == 0 && !image_counts(p) && !failed_requests_want_cudnn(p) &&
           lstat(p->path, &facts) == 0 && facts.st_dev == p->file->device &&
           facts.st_ino == p->file->inode && unlink(p->path) == 0;
}

/* Removes what is left of programs that came to nothing: `run` has the child log from its first
 * request on, and a program that is replaced by exec has no end at which to clean up. The last log
 * is kept if a signal ended the child, or if it failed with a file that is not a library. */
static void drop_empty(struct child_logs *c, pid_t child, bool signaled, bool failed) {
    const struct source *own = c->own;
    size_t kept = 0;

    c->own = NULL;
    EACH_POINTER(p, c->found, c->n) {
        const struct wc_stack *s = &p->stack;
        const struct wc_failure *last = s->failures.n ? &s->failures.p[s->failures.n - 1] : NULL;
        /* The last request that failed pointed to a file that is not a library of this machine. */
        bool met_bad_file =
            last && last->r.request != WC_NULL &&
            WC_ANY(file, s->files, file->r.fault && file->r.request == last->r.request);
        bool counts = p == own && (signaled || (failed && met_bad_file));
        if (p->pid == child && !counts && remove_if_nothing(p))
            continue;
        c->found[kept++] = p;
        c->own = p->pid == child ? p : c->own;
    }
    for (size_t i = 0; i < c->replaced_count; i++)
        (void)remove_if_nothing(c->replaced[i]);
    c->n = kept;
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

/* Where what it says comes from: the log, or the place of several. */
static char *origin_of(const struct run *run, const struct merged *m) {
    if (run->place.passing)
        return NULL;
    if (m->counted <= 1)
        return must_copy(m->rows.p[0].report->source->path);
    return must_format("%s (%zu logs)", run->place.directory, m->n);
}

static void print_summary(struct run *run, struct merged *m) {
    struct layout l = {.to = stderr, .colour = options.colour, .whole = true};
    const char *says = getenv("WHICHCUDNN_STDERR");
    const struct summary_row *first = m->rows.p;
    const struct source *log = first->report->source;
    OWNED char *origin = origin_of(run, m);

    /* What a shim that speaks for itself, as requested, has printed. */
    for (size_t i = 0; says && strcmp(says, "off") != 0 && i < m->n; i++)
        WC_EACH(f, m->p[i].report->source->stack.findings)
            if (strcmp(says, "all") == 0 || f->r.severity == WC_severity_ERROR)
                json_object_set_new_nocheck(run->live.told, f->r.title, json_true());
    for (size_t i = 0; i < m->rows.n; i++) {
        const struct wc_finding_record *f = m->rows.p[i].finding;
        m->rows.p[i].told = f && json_object_get(run->live.told, f->title);
    }
    render_summary(&l, m, &(struct summary_view){"whichcudnn: ", origin, 0});
    if (m->counted > 1)
        return;
    /* Of one process, what its finding has not reported. */
    if (run->live.stopped && log->pid == run->child.pid)
        print_format(stderr, "  ended    by --stop-on, %s\n", first->report->ending);
    else if (ended_within(log) && (!first->finding || first->told))
        print_format(stderr, "  ended    %s\n", first->report->ending);
    if (log->stack.outcome.reason)
        print_format(stderr, "  note     %s\n", log->stack.outcome.reason);
}

static bool is_disabled(void) {
    return wc_str_same(getenv("WHICHCUDNN_DISABLE"), "1");
}

/* ---- the verdict's file ---- */

/* Neither opened nor written may it hold the command's status up: a FIFO without a reader does. */
void run_leave_verdict(const struct run *run, const char *words) {
    OWNED char *harmless = harmless_text(words);
    OWNED char *line = must_format("%.*s\n", VERDICT_MOST - 1, harmless);
    const char *rest = line;

    if (!run->verdict_file)
        return;
    OWNED_FD int fd = open(run->verdict_file,
                           O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    ssize_t n = fd;
    while (n >= 0 && *rest && (n = write(fd, rest, strlen(rest))) > 0)
        rest += n;
    if (*rest)
        complain("%s: the verdict was not written: %s", run->verdict_file,
                 fd < 0 && errno == ENXIO ? "no process reads from it" : strerror(errno));
}

static void leave_verdict_of(const struct run *run, const struct merged *m) {
    const struct summary_row *first = m->rows.p;
    const struct plan_of_finding *fix =
        first->finding ? report_fixes(first->report, first->finding) : NULL;
    OWNED char *verdict = render_summary_text(m, first), *origin = origin_of(run, m), *text = NULL;
    struct sink sink;
    FILE *to = sink_begin(&sink);

    WC_EACH(copy, first->report->conclusion.copies)
        if (first->report->conclusion.verdict != WC_verdict_OK) /* the program that printed them */
            fprintf(to, "%s; ", *copy);
    fputs(verdict, to);
    if (fix && fix->n > 0)
        fprintf(to, "; %s: %s", repair_label(&fix->p[0]),
                fix->p[0].command ? fix->p[0].command : fix->p[0].text);
    if (m->counted <= 1 && ended_within(first->report->source))
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
static void tell_ends(const struct run *run, struct report *reports, size_t n,
                      const struct child_logs *logs, const struct wc_record *outcome) {
    bool failed = outcome->u.outcome.ending != WC_ending_EXITED || outcome->u.outcome.exit_status;

    if (failed && WC_ANY(r, WC_ITEMS(reports, n), r->conclusion.verdict == WC_verdict_ERRORS))
        return;
    for (size_t i = 0; i < n; i++) {
        struct wc_record r = *outcome;
        if (logs->found[i] != logs->own && !logs->found[i]->stack.has_outcome &&
            !(failed && words_ended_well(&run->printed, logs->found, n, logs->found[i])))
            outcome_tell(logs->found[i], &r);
    }
    ends_settle(logs->found, n);
    for (size_t i = 0; i < n; i++)
        report_judge(&reports[i]);
}

/* What also tells what the command printed. The caller frees. */
static char *line_with_text(const struct run *run) {
    OWNED char *words = shell_words(run->words);
    return must_format("whichcudnn run --text --%s", words);
}

/* outcome: of the command, as logs of others get it. */
static struct gate conclude_logs(struct run *run, const struct child_logs *logs,
                                 const struct wc_record *outcome) {
    size_t n = logs->n;
    OWNED struct report *reports = must_allocate(n * sizeof(*reports));
    struct gate answer = {.passes = true};
    OWNED char *line = line_with_text(run);

    ends_settle(logs->found, n);
    for (size_t i = 0; i < n; i++)
        report_make(&reports[i], logs->found[i]);
    tell_ends(run, reports, n, logs, outcome);
    for (size_t i = 0; i < n; i++)
        if (wc_failed_itself(&logs->found[i]->stack) ||
            reports[i].conclusion.verdict == WC_verdict_ERRORS) {
            own_packages_tell(logs->found[i], &(struct wc_sink){outcome_tell, logs->found[i]});
            report_judge(&reports[i]);
        }
    words_into_logs(&run->printed, logs->found, reports, n, run->quiet);
    for (size_t i = 0; i < n; i++) {
        gate_add(&answer, &reports[i]);
        if (reports[i].conclusion.next && !run->printed.were_read) /* a log has not all its words */
            reports[i].conclusion.next = line;
    }
    if (!run->quiet || run->verdict_file) {
        for (size_t i = 0; i < n; i++)
            report_plan(&reports[i]);
        ENDED_BY(merged_end) struct merged m;
        merge(&m, reports, n);
        if (!run->quiet)
            print_summary(run, &m);
        if (run->verdict_file)
            leave_verdict_of(run, &m);
    }
    for (size_t i = 0; i < n; i++)
        report_end(&reports[i]);
    return answer;
}

/* ---- what no log reports about the command ---- */

/* NULL: nothing is known that would have kept that user from it: a line more finds room there. */
static char *trouble_of_place(const struct log_place *place, uid_t user) {
    static const char zeros[4096];
    OWNED char *name = must_format("%s/whichcudnn-room-XXXXXX", place->directory);
    int error = 0;

    if (!place->directory)
        return must_format("%s does not name a place for logs", place->value);
    disk_as_user(user);
    OWNED_FD int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0 || write(fd, zeros, sizeof(zeros)) != (ssize_t)sizeof(zeros))
        error = errno;
    if (fd >= 0)
        unlink(name);
    disk_as_self();
    if (error == EACCES && user != geteuid())
        return must_format("user %u may not write in %s; --log DIR/ names another place",
                           (unsigned)user, place->directory);
    return error ? must_format("no log can be written in %s: %s", place->directory, strerror(error))
                 : NULL;
}

/* Is that log of the program that the command was at its end, as far as the kernel's names for it
 * say? */
static bool was_the_last(const struct source *log, const struct family *family) {
    const struct wc_process_record *p = &log->stack.process;

    return log->stack.has_summary || !family->last_name[0] ||
           family_is_last(family, p->executable) ||
           WC_ANY(a, p->arguments, family_is_last(family, *a)) ||
           (family->seen_program && wc_str_same(family->seen_program, p->executable) &&
            wc_str_same(family->seen_name, family->last_name));
}

/* Of the line of a script. The caller frees. */
static char *other_preload(void) {
    OWNED char *here = get_current_dir_name();
    ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory);
    const struct setter by =
        setter_in(&memory.arena, getenv("WHICHCUDNN_RUN_SCRIPT"), here, "LD_PRELOAD");
    return by.by ? must_format("%s sets another LD_PRELOAD (where it begins with $LD_PRELOAD:, the "
                               "program is watched)",
                               by.by)
                 : NULL;
}

/* That the library was at work in a process that never asked for cuDNN is known of the command
 * itself, which logs from its start on and leaves that log to us; of others only that they had
 * cuDNN, by what they had mapped when they were looked at. logs: all that were found, empty ones as
 * well. NULL: nothing is known to be missing. The caller frees. */
static char *unseen_reason(const struct run *run, const struct child_logs *logs) {
    const struct family *family = &run->live.family;
    const struct source *log = logs->own;
    uid_t user = family->last_user;
    OWNED char *missing = NULL, *why = NULL;

    if (log ? log->stack.objects.n + log->stack.failures.n == 0 && !was_the_last(log, family)
            : logs->n == 0 && child_exit_code(&run->child) <= 128)
        missing = run->live.preload_gone
                      ? must_copy("the command continued without the library: LD_PRELOAD was "
                                  "removed from its environment (env -i, sudo, a launcher)")
                  : log ? must_format("the command became %s, for which the library left no log",
                                      family->last_name)
                        : must_copy("the library left no log of the command");
    const struct relative *unseen = WC_FIRST(
        one, family->with_cudnn,
        !missing && !WC_ANY(other, WC_ITEMS(logs->found, logs->n), (*other)->pid == one->pid));
    if (unseen) {
        user = unseen->user;
        missing = must_format("process %lld had %s and left no log", (long long)unseen->pid,
                              unseen->library);
    }
    if (!missing)
        return NULL;
    why = trouble_of_place(&run->place, user)
              ?: logs->passed_over ? must_format("skipped: %s", logs->passed_over)
                                   : other_preload();
    if (!why && !run->live.preload_gone)
        why = must_copy("it was not preloaded there, or could write none");
    return must_format("%s%s%s", missing, why ? ": " : "", why);
}

/* Processes that a command of `run` started and that outlive it (a daemon, a server): how many have
 * the mark of this command in their environment, which only the same user and root can read; *one:
 * one of them. */
static size_t left_running(pid_t command, pid_t *one) {
    OWNED_GLOB glob_t all = glob_below("/proc/", "", "[0-9]*", GLOB_NOSORT);
    OWNED char *load = disk_text("/proc/loadavg", 128, NULL);
    const char *last = load ? strrchr(load, ' ') : NULL;
    size_t n = 0, length;
    const pid_t newest = last ? (pid_t)strtol(last, NULL, 10) : 0;

    /* Younger processes have larger numbers, until these begin again. */
    for (size_t i = 0; i < all.gl_pathc; i++) {
        const pid_t pid = (pid_t)strtol(all.gl_pathv[i] + strlen("/proc/"), NULL, 10);
        if (pid <= (newest >= command ? command : 0))
            continue;
        OWNED char *environment = proc_text(pid, "environ", &length);
        const char *mark = envz_get(environment, length, "WHICHCUDNN_RUN_PID");
        const bool is_one = mark && strtol(mark, NULL, 10) == command;
        *one = is_one ? pid : *one;
        n += is_one;
    }
    return n;
}

/* ---- the conclusion ---- */

/* No log: either nothing of cuDNN was in it, or the shim could not be. reason: why it could not be;
 * NULL: it could. is_all: that says why it failed, too. */
static struct gate conclude_unobserved(const struct run *run, struct wc_record *outcome,
                                       const char *reason, bool is_all) {
    const int status = child_exit_code(&run->child);
    pid_t one = 0;
    size_t running = reason ? 0 : left_running(run->child.pid, &one);
    OWNED char *remaining =
        running == 1 ? must_format("process %d, which it started, still runs", (int)one)
                     : must_format("%d processes that it started still run", (int)running);
    const char *why = reason          ? reason
                      : is_disabled() ? "WHICHCUDNN_DISABLE is set"
                      : status > 128  ? "it ended before anything was asked for"
                      : run->unsure && status != 0
                          ? "it failed, and its script does not name the program that it starts"
                      : running == 0 ? "no cuDNN was loaded or asked for"
                                     : NULL;
    const char *printed = status ? run->printed.lines[0] : NULL;
    /* A process with the library that requests cuDNN leaves a log. */
    const char *by = printed && run->printed.name_cudnn
                         ? " The process that printed it left no log: it ended in the loader, or "
                           "was started without LD_PRELOAD (env -i, env= in Python)."
                         : "";
    OWNED char *line = line_with_text(run),
               *text = must_format("not observed: %s%s%s%s%s",
                                   why ?: "no cuDNN was loaded or asked for so far; ",
                                   why ? "" : remaining, printed ? "; " : "", printed ?: "", by);

    if (reason)
        outcome_leave(&run->place, outcome, reason);
    if (!run->quiet)
        complain("%s", text);
    if (!run->quiet && !is_all && !is_disabled() && status > 0 && status <= 128 &&
        !run->printed.were_read)
        print_format(stderr, "  next     %s\n", line);
    run_leave_verdict(run, text);
    return (struct gate){.passes = !reason && !is_disabled()};
}

struct gate run_conclude(struct run *run) {
    ENDED_BY(source_end) struct source *started = NULL;
    ENDED_BY(child_logs_end) struct child_logs logs;
    struct wc_record r, of_started;
    struct gate answer;
    OWNED char *unseen = NULL, *reason = NULL;

    words_read(&run->printed);
    child_logs_find(&logs, &run->place, &run->live.family, run->child.pid, run->start);
    unseen = unseen_reason(run, &logs);
    outcome_begin(&r, &run->child);
    r.u.outcome.words_read = run->printed.were_read;
    r.u.outcome.printed =
        (struct wc_strings){(const char **)run->printed.lines, run->printed.line_count};
    /* The log of what a signal ended is kept; what was replaced by exec did not end so. */
    drop_empty(&logs, run->child.pid,
               r.u.outcome.ending == WC_ending_SIGNALED &&
                   (!logs.own || was_the_last(logs.own, &run->live.family)),
               r.u.outcome.exit_status > 0);
    complete_logs(&logs, &r.u.outcome);
    if (logs.own)
        outcome_add(logs.own, &r);
    bool is_logged = logs.n > 0;
    if (!is_logged) { /* what in the program itself keeps a preload out */
        OWNED char *program = NULL, *rights = NULL, *missing = NULL, *plain = NULL;
        plain = unobserved_reason(run->words[0], &program);
        rights = plain && program ? unobserved_rights(program) : NULL;
        missing = rights ? startup_missing(&r.u.outcome, program) : NULL;
        reason = missing ? must_format("%s, and the loader ignores LD_LIBRARY_PATH for it; %s",
                                       rights, missing)
                         : must_copy(plain);
    }
    of_started = r;
    if (!reason && !is_disabled())
        started = startup_source(run, &of_started, is_logged, &reason);
    if (started) { /* next to others that did well, too */
        *MUST_ADD(logs.found, logs.n) = started;
        logs.own = is_logged ? logs.own : started;
    }
    if (logs.n == 0 && !reason && !unseen && r.u.outcome.exit_status > 0)
        reason = other_preload();
    if (logs.n > 0)
        answer = conclude_logs(run, &logs, &r);
    else
        answer = conclude_unobserved(run, &r, reason || is_disabled() ? reason : unseen, reason);
    if (is_logged && unseen) {
        answer.passes = false;
        if (!run->quiet)
            complain("not observed: %s", unseen);
    }
    return answer;
}

void run_not_started(const struct run *run) {
    OWNED char *text = must_format("%s: %s", run->words[0], strerror(run->child.exec_error));
    struct wc_record r;

    complain("%s", text);
    run_leave_verdict(run, text);
    outcome_begin(&r, &run->child);
    outcome_leave(&run->place, &r, strerror(run->child.exec_error));
}
