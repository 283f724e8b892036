/* whichcudnn run: a command with the shim preloaded, and what was found at its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "child_logs.h"
#include "command.h"
#include "gpus.h"
#include "options.h"
#include "outcome.h"
#include "preload.h"
#include "render.h"
#include "startup_source.h"
#include "terminal.h"
#include "unobserved.h"

#define REPORTS_SHOWN 8
#define LOADER_STATUS 127 /* with which glibc's loader ends a program that it cannot start */

static const char usage[] =
    "Usage: whichcudnn run [--log PLACE] [--quiet] [--color=WHEN] -- COMMAND [argument...]\n"
    "\n"
    "Starts COMMAND with libwhichcudnn.so preloaded, hands signals on to it, and says at its end,\n"
    "however it ended, which cuDNN it got and what does not match.\n"
    "\n"
    "  --log     where logs go: a directory, or a file name (%p pid, %n node, %r rank).\n"
    "            Default: $WHICHCUDNN_LOG, else the working directory, $TMPDIR, /tmp\n"
    "  --quiet   say nothing at the end\n"
    "  --color   auto, always, never\n"
    "  --help    this text\n"
    "\n"
    "Exit status: that of COMMAND; 128 + n if signal n ended it; 127 if it was not found, 126 if\n"
    "it could not be started, 2 usage.\n";

struct options {
    const char *log;
    bool quiet;
    struct options_common common;
};

struct environment {
    char *preload;
    const char *log;
};

static int64_t now(void) {
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* In the child: its own pid is the mark by which the shim knows the process that was asked for. */
static void set_environment(void *arg) {
    const struct environment *e = arg;
    char pid[24];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("LD_PRELOAD", e->preload, 1);
    setenv("WHICHCUDNN_RUN_PID", pid, 1);
    setenv("WHICHCUDNN_LOG", e->log, 1);
}

static void print_log(const struct source *log) {
    if (log->path[0])
        print_format(stderr, "  log      %s\n", log->path);
}

static void print_report(const struct source *log, bool colour) {
    struct report report;
    char *ending;

    report_make(&report, log);
    ending = report_ending(&report);
    fputs("whichcudnn: ", stderr);
    render_brief(stderr, &report, colour);
    if (log->stack.outcome.ending == WC_ending_SIGNALED)
        print_format(stderr, "  ended    %s\n", ending);
    if (log->stack.outcome.reason)
        print_format(stderr, "  mind     %s\n", log->stack.outcome.reason);
    print_log(log);
    free(ending);
    report_end(&report);
}

static void print_reports(const struct child_logs *logs, bool colour) {
    for (size_t i = 0; i < logs->n && i < REPORTS_SHOWN; i++)
        print_report(logs->found[i], colour);
    if (logs->n > REPORTS_SHOWN)
        complain("%zu more logs of processes that it started", logs->n - REPORTS_SHOWN);
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
    if (path && !outcome_leave(path, r)) {
        other = must_format("%s.%lld", path, (long long)r->u.outcome.child);
        if (errno != EEXIST || !outcome_leave(other, r))
            complain("%s: %s", path, strerror(errno));
        free(other);
    }
    free(path);
}

static bool has_cudnn(const struct wc_stack *s) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.p[i].r.role == WC_role_FACADE)
            return true;
    return false;
}

/* Which GPUs there are matters to whoever got a cuDNN, and costs a start of the driver. A process
 * that still runs numbers its records itself. */
static void add_gpus(const struct child_logs *logs) {
    struct gpus gpus = {.n = 0};
    bool asked = false;

    for (size_t i = 0; i < logs->n; i++) {
        struct source *log = logs->found[i];
        struct wc_record r;
        if (!log->stack.has_machine || !has_cudnn(&log->stack) ||
            (log != logs->own && !log->stack.has_summary))
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

/* The shim never woke, nor did the program: what its files say of that. A program that the loader
 * refuses ends with status 127. */
static struct source *look_at_start(const struct log_place *place, const char *program,
                                    struct wc_record *r, const char *preload, char **reason) {
    struct wc_outcome_record *o = &r->u.outcome;
    struct source *started;
    char *path;

    if (!program || o->ending != WC_ending_EXITED || o->status != LOADER_STATUS || is_disabled())
        return NULL;
    path = place->directory && !strchr(place->value, '%') ? outcome_path(place, o->child) : NULL;
    started = startup_source(program, preload, o->child, path, reason);
    free(path);
    if (!started)
        return NULL;
    o->reason = "it ended in the loader, before anything of it ran: this is what its files say";
    if (!outcome_add(started, r))
        complain("%s: %s", started->path, strerror(errno));
    return started;
}

static void conclude(const struct log_place *place, const struct child *child, const char *command,
                     const char *preload, int64_t start, const struct options *options) {
    struct child_logs logs;
    struct source *started = NULL;
    struct wc_record r;
    char *reason = NULL, *program = NULL;

    child_logs_find(&logs, place, child->pid, start);
    outcome_begin(&r, child);
    child_logs_drop_empty(&logs, child->pid, r.u.outcome.ending == WC_ending_SIGNALED);
    add_gpus(&logs);
    if (logs.own && !outcome_add(logs.own, &r))
        complain("%s: %s", logs.own->path, strerror(errno));
    if (logs.n == 0) {
        reason = unobserved_reason(command, &program);
        if (!reason)
            started = look_at_start(place, program, &r, preload, &reason);
        if (!started && reason)
            leave_outcome(place, &r, reason);
    }
    if (started && !options->quiet)
        print_report(started, options->common.colour);
    else if (logs.n == 0 && !options->quiet)
        complain("nothing observed: %s", reason_of_silence(child, reason));
    else if (!options->quiet)
        print_reports(&logs, options->common.colour);
    if (started)
        source_free(started);
    free(program);
    free(reason);
    child_logs_end(&logs);
}

static void not_started(const struct log_place *place, const struct child *child,
                        const char *command) {
    struct wc_record r;

    complain("%s: %s", command, strerror(child->exec_error));
    outcome_begin(&r, child);
    leave_outcome(place, &r, strerror(child->exec_error));
}

static int run_command(char **command, char *shim, const struct options *options) {
    struct environment environment = {preload_list(getenv("LD_PRELOAD"), shim), NULL};
    struct log_place place;
    struct child child = {0, 0, 0};
    int64_t start = now();
    int answer = 126;

    log_place_choose(&place, options->log);
    environment.log = place.value;
    fflush(NULL);
    if (!supervise(command, set_environment, &environment, &child)) {
        complain("no process could be made: %s", strerror(errno));
    } else if (child.exec_error) {
        not_started(&place, &child, command[0]);
        answer = outcome_exit_code(&child);
    } else {
        conclude(&place, &child, command[0], environment.preload, start, options);
        answer = outcome_exit_code(&child);
    }
    log_place_end(&place);
    free(environment.preload);
    return answer;
}

static bool take_option(int c, char *value, void *own) {
    struct options *options = own;

    if (c == 'l')
        options->log = value;
    else if (c == 'q')
        options->quiet = true;
    return true;
}

int cmd_run(int argc, char **argv) {
    static const struct option known[] = {
        {"log", required_argument, NULL, 'l'}, {"quiet", no_argument, NULL, 'q'}, OPTIONS_ALL};
    const struct options_kind kind = {usage, "+hq", known, take_option, stderr, 1, -1, "a command"};
    struct options options = {.log = NULL};
    int answer = options_read(argc, argv, &kind, &options.common, &options);
    char *shim;

    if (answer >= 0)
        return answer;
    shim = preload_find_shim();
    if (!shim)
        return EXIT_USAGE;
    answer = run_command(argv + optind, shim, &options);
    free(shim);
    return answer;
}
