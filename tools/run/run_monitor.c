/* SPDX-License-Identifier: Apache-2.0 */
/* See run_monitor.h. */
#include "run_monitor.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_logs.h"
#include "core/records/process.h"
#include "run_end.h"
#include "tools/commands/options.h"
#include "tools/inspect/preloaded.h"
#include "tools/util/clock.h"
#include "tools/util/terminal.h"

#define HOUR (3600 * CLOCK_SECOND)
/* Most commands that an error ends have ended by then. */
#define SOON (3 * CLOCK_SECOND)
#define WATCH_AFTER (CLOCK_SECOND / 2)
#define LOOK_FIRST (CLOCK_SECOND / 50)
#define LOOK_RARER 5 /* times */
/* To write a checkpoint and go; then it is killed. */
#define STOP_PATIENCE (10 * CLOCK_SECOND)

static int64_t now(void) {
    return clock_now(CLOCK_REALTIME);
}

/* To end a watch takes the kernel 10 ms and more: short commands have none. */
void run_monitor_begin(struct run_monitor *l, const struct run *run) {
    l->run = run;
    l->print = !run->quiet && !getenv("WHICHCUDNN_STDERR");
    l->readable = -1;
    l->look_after = LOOK_FIRST;
    l->look_at = now() + l->look_after;
    if (l->stop || l->print)
        l->watch_at = now() + WATCH_AFTER;
}

/* What was written before is looked at once. */
static void begin_watch(struct run_monitor *l) {
    l->watch_at = 0;
    l->watch = log_watch_begin(&l->run->place);
    if (l->watch) {
        l->readable = log_watch_descriptor(l->watch);
        l->judge_at = now();
    } else if (l->stop) {
        complain("the place of logs cannot be watched: --stop-on does nothing");
    }
}

static bool is_emitted(const struct run_monitor *l, const char *title) {
    for (size_t i = 0; i < l->emitted_count; i++)
        if (strcmp(l->told[i], title) == 0)
            return true;
    return false;
}

void run_monitor_report(struct run_monitor *l, const char *title) {
    if (is_emitted(l, title))
        return;
    *MUST_ADD(l->told, l->emitted_count) = must_copy(title);
}

bool run_monitor_reported(const struct run_monitor *l, const struct report *r) {
    for (size_t i = 0; i < r->findings.n; i++)
        if (r->findings.p[i].severity >= WC_severity_WARNING &&
            !is_emitted(l, r->findings.p[i].title))
            return false;
    return r->findings.n > 0 && r->findings.p[0].severity >= WC_severity_WARNING;
}

/* A finding of a log: is it an error, and does it still hold? */
static bool is_error(const struct wc_stack *s, const struct wc_noted_finding *f) {
    return f->r.severity == WC_severity_ERROR &&
           !WC_ANY(later, s->findings, later > f && later->r.supersedes == f->seq);
}

static bool has_error(const struct source *log) {
    return WC_ANY(f, log->stack.findings, is_error(&log->stack, f));
}

/* A number of a log may be another process by now, or mean something else here (namespaces). */
static bool still_runs(const struct source *log) {
    char *path = must_format("/proc/%lld/stat", (long long)log->pid), text[1024];
    FILE *from = fopen(path, "re");
    size_t n = from ? fread(text, 1, sizeof(text) - 1, from) : 0;

    text[n] = '\0';
    free(path);
    if (from)
        fclose(from);
    return log->stack.has_process && wc_start_ticks(text) != WC_NULL &&
           wc_start_ticks(text) == log->stack.process.start_ticks;
}

/* The command, and those of its processes that have the error: they may not be its children. */
static void end_command(const struct child_logs *logs, pid_t child, int signal) {
    kill(child, signal);
    for (size_t i = 0; i < logs->n; i++)
        if (logs->found[i]->pid != child && has_error(logs->found[i]) && still_runs(logs->found[i]))
            kill((pid_t)logs->found[i]->pid, signal);
}

static void print(struct run_monitor *l, const struct source *log,
                  const struct wc_finding_record *f) {
    run_monitor_report(l, f->title);
    fflush(stdout);
    fprintf(stderr, "whichcudnn: %serror%s", paint_begin(options.colour, PAINT_ERROR),
            paint_end(options.colour));
    print_format(stderr, ": %s\n", f->title);
    if (f->fix.n > 0)
        print_format(stderr, "  fix      %s\n",
                     f->fix.p[0].command ? f->fix.p[0].command : f->fix.p[0].text);
    print_format(stderr, "  more     whichcudnn explain %s\n", f->id);
    if (!l->run->place.passing)
        print_format(stderr, "  log      %s\n", log->path);
}

static void consider(struct run_monitor *l, const struct source *log,
                     const struct wc_noted_finding *f) {
    if (is_emitted(l, f->r.title))
        return;
    if (f->time + SOON <= now())
        print(l, log, &f->r);
    else if (!l->judge_at || f->time + SOON < l->judge_at)
        l->judge_at = f->time + SOON;
}

static void judge(struct run_monitor *l, pid_t child) {
    struct child_logs logs;

    l->judge_at = 0;
    child_logs_find(&logs, &l->run->place, child, l->run->start);
    for (size_t i = 0; i < logs.n; i++) {
        if (l->stop && !l->stopped && has_error(logs.found[i])) {
            l->stopped = true;
            l->kill_at = now() + STOP_PATIENCE;
            end_command(&logs, child, SIGTERM);
        }
        WC_EACH(f, logs.found[i]->stack.findings)
            if (l->print && !l->stop && is_error(&logs.found[i]->stack, f))
                consider(l, logs.found[i], f);
    }
    child_logs_end(&logs);
    l->judged_at = now();
}

static void kill_now(struct run_monitor *l, pid_t child) {
    struct child_logs logs;

    l->kill_at = 0;
    child_logs_find(&logs, &l->run->place, child, l->run->start);
    end_command(&logs, child, SIGKILL);
    child_logs_end(&logs);
}

/* env -i, a launcher: what the command has become may be without the shim. */
static void look_at_preload(struct run_monitor *l, pid_t child) {
    l->preload_gone = preload_is_gone(child, l->run->shim);
    l->look_after *= LOOK_RARER;
    l->look_at = l->preload_gone ? 0 : now() + l->look_after;
}

static int64_t sooner(int64_t a, int64_t b) {
    return a && (!b || a < b) ? a : b;
}

int run_monitor_check(void *arg, pid_t child, bool is_readable) {
    struct run_monitor *l = arg;
    int64_t next, left;

    if (l->look_at && l->look_at <= now())
        look_at_preload(l, child);
    if (l->watch_at && l->watch_at <= now())
        begin_watch(l);
    /* Where logs grow and grow they are read once a second at most. */
    if (is_readable && log_watch_read(l->watch, child) && !l->stopped)
        l->judge_at = sooner(
            l->judged_at + CLOCK_SECOND > now() ? l->judged_at + CLOCK_SECOND : now(), l->judge_at);
    if (l->judge_at && l->judge_at <= now())
        judge(l, child);
    if (l->kill_at && l->kill_at <= now())
        kill_now(l, child);
    next = sooner(sooner(l->look_at, l->watch_at), sooner(l->judge_at, l->kill_at));
    left = next - now();
    if (!next)
        return -1;
    if (left > HOUR)
        left = HOUR; /* poll takes an int */
    return left < 0 ? 0 : (int)(left / 1000) + 1;
}

void run_monitor_end(struct run_monitor *l) {
    log_watch_end(l->watch);
    for (size_t i = 0; i < l->emitted_count; i++)
        free(l->told[i]);
    free(l->told);
}
