/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "child_logs.h"
#include "tools/commands/options.h"
#include "tools/observe/preload.h"
#include "tools/report/render.h"
#include "tools/util/clock.h"
#include "tools/util/memory.h"

#define HOUR (3600 * CLOCK_SECOND)
/* Most commands that an error ends have ended by then. */
#define SOON (3 * CLOCK_SECOND)
#define WATCH_AFTER (CLOCK_SECOND / 2)
#define LOOK_FIRST (CLOCK_SECOND / 50)
#define LOOK_RARER 5 /* times */
/* Of a finding: with what is printed at the end it fills no more than half a screen. */
#define LIVE_LINES 10
#define LOOK_RAREST (60 * CLOCK_SECOND)
/* To write a checkpoint and go; then it is killed. */
#define STOP_PATIENCE (10 * CLOCK_SECOND)
/* Logs that grow and grow, and those of other commands next to them, take little time. */
#define PAUSE_LEAST CLOCK_SECOND
#define PAUSE_TIMES 20

/* ---- logs that grow ---- */

/* Takes all that happened. */
static bool has_grown(int fd, const struct log_place *place) {
    _Alignas(struct inotify_event) char events[8192];
    bool found = false;
    ssize_t n;

    while ((n = read(fd, events, sizeof(events))) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const struct inotify_event *)(events + at);
            found = found || e->mask & IN_Q_OVERFLOW ||
                    (e->len > 0 && wc_str_starts(e->name, place->prefix));
            at += (ssize_t)(sizeof(*e) + e->len);
        }
    return found;
}

/* ---- the monitor ---- */

static int64_t now(void) {
    return clock_now(CLOCK_REALTIME);
}

/* To end a watch takes the kernel 10 ms and more: short commands have none. */
void run_monitor_begin(struct run_monitor *m, const struct run *run) {
    m->run = run;
    m->told = json_object();
    family_begin(&m->family);
    m->print = !run->quiet && !getenv("WHICHCUDNN_STDERR");
    m->readable = -1;
    m->look_after = LOOK_FIRST;
    m->look_at = now() + m->look_after;
    if (m->stop || m->print)
        m->watch_at = now() + WATCH_AFTER;
}

/* What was written before is looked at once. */
static void begin_watch(struct run_monitor *m) {
    const char *directory = m->run->place.directory;

    m->watch_at = 0;
    m->readable = directory ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
    if (m->readable >= 0 && inotify_add_watch(m->readable, directory, IN_MODIFY | IN_ONLYDIR) < 0) {
        close(m->readable);
        m->readable = -1; /* the kernel will not watch it */
    }
    if (m->readable >= 0)
        m->judge_at = now();
    else if (m->stop)
        complain("the place of logs cannot be watched: --stop-on does nothing");
}

/* ---- errors of a log ---- */

/* Was it noted as an error, and does that still hold? What may be a probe is not noted yet. */
static const struct wc_noted_finding *noted_error(const struct source *log, const char *id) {
    const struct wc_stack *s = &log->stack;

    return WC_FIRST(f, s->findings,
                    wc_str_same(f->r.id, id) && f->r.severity == WC_severity_ERROR &&
                        !WC_ANY(later, s->findings, later > f && later->r.supersedes == f->seq));
}

/* A log only says when to look: what is believed and printed is found from what it holds. NULL: no
 * error. */
static const struct wc_finding_record *find_error(const struct report *r) {
    return WC_FIRST(f, r->findings,
                    f->severity == WC_severity_ERROR && noted_error(r->source, f->id));
}

static void consider(struct run_monitor *m, const struct report *r,
                     const struct wc_finding_record *f) {
    struct wc_finding_view view = {.before = "whichcudnn: ",
                                   .stack = &r->source->stack,
                                   .log = m->run->place.passing ? NULL : r->source->path,
                                   .lines = LIVE_LINES};
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    int64_t noted = noted_error(r->source, f->id)->time;

    if (json_object_get(m->told, f->title))
        return;
    /* A full pipe would keep signals from the command: it is asked again each second. */
    if (noted + SOON <= now() && poll(&room, 1, 0) > 0) {
        json_object_set_new_nocheck(m->told, f->title, json_true());
        fflush(stdout);
        render_finding(stderr, r, f, view, options.colour);
    } else if (noted + SOON <= now())
        m->judge_at = now() + CLOCK_SECOND;
    else if (!m->judge_at || noted + SOON < m->judge_at)
        m->judge_at = noted + SOON;
}

/* ---- ending the command ---- */

static void signal_all(const struct run_monitor *m, pid_t child, int signal) {
    kill(child, signal);
    for (size_t i = 0; i < m->held_count; i++)
        held_process_signal(&m->held[i], signal);
}

static void judge(struct run_monitor *m, pid_t child) {
    const int64_t begun = now();
    struct child_logs logs;
    bool stops = false;

    m->judge_at = 0;
    child_logs_find(&logs, &m->run->place, &m->family, child, m->run->start);
    for (size_t i = 0; i < logs.n; i++) {
        struct report r;
        report_make(&r, logs.found[i]);
        if (m->stop && !m->stopped && find_error(&r)) {
            /* A process that has the error may continue after the end of the command. Held before
             * that is reported anything: its children may lose their parent. */
            const struct source *log = logs.found[i];
            struct held_process held;
            if (log->pid != child && log->stack.has_process &&
                family_hold(child, log->pid, log->stack.process.start_ticks, &held))
                *MUST_ADD(m->held, m->held_count) = held;
            stops = true;
        } else if (m->print && !m->stop) {
            if (find_error(&r))
                report_plan(&r);
            WC_EACH(f, r.findings)
                if (f->severity == WC_severity_ERROR && noted_error(r.source, f->id))
                    consider(m, &r, f);
        }
        report_end(&r);
    }
    child_logs_end(&logs);
    if (stops) {
        m->stopped = true;
        m->kill_at = now() + STOP_PATIENCE;
        signal_all(m, child, SIGTERM);
    }
    m->judge_after = now() + PAUSE_LEAST;
    if (now() + PAUSE_TIMES * (now() - begun) > m->judge_after)
        m->judge_after = now() + PAUSE_TIMES * (now() - begun);
}

void run_monitor_look_last(void *arg, pid_t child) {
    struct run_monitor *m = arg;

    family_look_last(&m->family, child);
}

static int64_t sooner(int64_t a, int64_t b) {
    return a && (!b || a < b) ? a : b;
}

int run_monitor_check(void *arg, pid_t child, bool is_readable) {
    struct run_monitor *m = arg;
    int64_t next, left;

    if (m->look_at && m->look_at <= now()) {
        /* env -i, a launcher: what the command has become may be without the shim. */
        family_look(&m->family, child);
        m->preload_gone = preload_is_gone(child, m->run->shim);
        if (!m->preload_gone)
            family_note_program(&m->family, child);
        m->look_after *= LOOK_RARER;
        if (m->look_after > LOOK_RAREST)
            m->look_after = LOOK_RAREST;
        m->look_at = now() + m->look_after;
    }
    if (m->watch_at && m->watch_at <= now())
        begin_watch(m);
    if (is_readable && has_grown(m->readable, &m->run->place) && !m->stopped)
        m->judge_at = sooner(m->judge_after > now() ? m->judge_after : now(), m->judge_at);
    if (m->judge_at && m->judge_at <= now())
        judge(m, child);
    if (m->kill_at && m->kill_at <= now()) {
        m->kill_at = 0;
        signal_all(m, child, SIGKILL);
    }
    next = sooner(sooner(m->look_at, m->watch_at), sooner(m->judge_at, m->kill_at));
    left = next - now();
    if (!next)
        return -1;
    if (left > HOUR)
        left = HOUR; /* poll takes an int */
    return left < 0 ? 0 : (int)(left / 1000) + 1;
}

void run_monitor_end(struct run_monitor *m) {
    if (m->readable >= 0)
        close(m->readable);
    json_decref(m->told);
    for (size_t i = 0; i < m->held_count; i++)
        held_process_end(&m->held[i]);
    free(m->held);
    family_end(&m->family);
}
