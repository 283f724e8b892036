/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/param.h>
#include <unistd.h>

#include "core/names/names.h"
#include "core/records/process.h"
#include "tools/commands/options.h"
#include "tools/observe/log/source.h"
#include "tools/report/render.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"

#define DEPTH_MOST 64 /* generations; a chain in /proc that changes meanwhile could be a ring */
#define LOOKED_AT_MOST 4096   /* processes of one look */
#define PIDFD_SEND_SIGNAL 424 /* younger than the C library's headers may be; alike everywhere */
#define PIDFD_OPEN 434

/* ---- /proc ---- */

/* The last of the four: as which its files are made. */
static bool read_user(pid_t pid, uid_t *user) {
    OWNED char *status = proc_text(pid, "status", NULL);
    const char *line = strstr(status, "\nUid:");

    /* The kernel's own numbers fit. NOLINTNEXTLINE(cert-err34-c) */
    return line && sscanf(line, "\nUid: %*u %*u %*u %u", user) == 1;
}

static pid_t read_parent(pid_t pid, int64_t *start_ticks) {
    OWNED char *stat = proc_text(pid, "stat", NULL);

    *start_ticks = wc_start_ticks(stat);
    return (pid_t)strtol(wc_stat_field(stat, 4), NULL, 10);
}

/* ---- whose logs count ---- */

static void add_user(struct family *f, uid_t user) {
    if (!family_has_user(f, user))
        *MUST_ADD(f->users, f->user_count) = user;
}

/* ---- looking at all of them ---- */

static void look_at_maps(struct family *f, pid_t pid, uid_t user) {
    OWNED char *text =
        WC_ANY(one, f->with_cudnn, one->pid == pid) ? NULL : proc_text(pid, "maps", NULL);

    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        const char *path = strchr(line, '/');
        if (path && wc_name_kind_of(path) == WC_NAME_FACADE) {
            *MUST_ADD(f->with_cudnn.p, f->with_cudnn.n) =
                (struct relative){pid, user, must_copy(path)};
            return;
        }
    }
}

static void look_at_family(struct family *f, pid_t command) {
    OWNED pid_t *all = NULL;
    size_t n = 0;
    uid_t user;
    char word[24];

    *MUST_ADD(all, n) = command;
    for (size_t i = 0; i < n; i++) {
        OWNED char *process = must_format("/proc/%d", (int)all[i]);
        OWNED_GLOB glob_t children = glob_below("", process, "/task/*/children", GLOB_NOSORT);
        if (read_user(all[i], &user)) {
            add_user(f, user);
            look_at_maps(f, all[i], user);
        }
        for (size_t k = 0; k < children.gl_pathc; k++) {
            OWNED_FILE FILE *from = fopen(children.gl_pathv[k], "re");
            while (from && n < LOOKED_AT_MOST && fscanf(from, "%23s", word) == 1)
                *MUST_ADD(all, n) = (pid_t)strtol(word, NULL, 10);
        }
    }
}

static void read_name(pid_t pid, char name[16]) {
    OWNED char *comm = proc_text(pid, "comm", NULL);

    if (*comm)
        snprintf(name, 16, "%.*s", (int)strcspn(comm, "\n"), comm);
}

/* Of a command that was seen to have our library. */
static void note_program(struct family *f, pid_t command) {
    OWNED char *name = must_format("/proc/%d/exe", (int)command);
    char *path = disk_link(name);

    if (!path)
        return;
    free(f->seen_program);
    f->seen_program = path;
    read_name(command, f->seen_name);
}

void run_monitor_look_last(void *monitor, pid_t child) {
    struct family *f = &((struct run_monitor *)monitor)->family;

    if (read_user(child, &f->last_user)) {
        add_user(f, f->last_user);
        read_name(child, f->last_name);
    }
}

bool family_is_last(const struct family *f, const char *path) {
    return path && f->last_name[0] &&
           strncmp(wc_base_name(path), f->last_name, sizeof(f->last_name) - 1) == 0;
}

/* ---- which processes may be signalled ---- */

struct held_process {
    pid_t pid;
    int fd; /* pidfd; -1: the kernel has none */
};

/* One that was seen to descend from the command: while its descriptor does not report an end, the
 * number meant this process all along. False: no such process that began then descends from it
 * now. */
static bool hold(pid_t command, int64_t pid, int64_t start_ticks, struct held_process *out) {
    struct pollfd has_ended = {.events = POLLIN};
    int64_t ticks, of_parent;

    if (pid <= 1 || pid > INT32_MAX)
        return false;
    out->pid = (pid_t)pid;
    out->fd = (int)syscall(PIDFD_OPEN, out->pid, 0);
    if (out->fd < 0 && errno != ENOSYS && errno != EPERM)
        return false;
    has_ended.fd = out->fd; /* poll passes a negative one over */
    pid_t at = read_parent(out->pid, &ticks);
    for (int i = 0; i < DEPTH_MOST && at > 1 && at != command; i++)
        at = read_parent(at, &of_parent);
    if (ticks != WC_NULL && ticks == start_ticks && at == command && poll(&has_ended, 1, 0) == 0)
        return true;
    fd_end(&out->fd);
    return false;
}

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
    m->family.last_user = geteuid();
    add_user(&m->family, m->family.last_user);
    m->readable = -1;
    m->look_after = LOOK_FIRST;
    m->look_at = now() + m->look_after;
    if (m->stop || (!run->quiet && !getenv("WHICHCUDNN_STDERR")))
        m->watch_at = now() + WATCH_AFTER;
}

/* What was written before is looked at once. */
static void begin_watch(struct run_monitor *m) {
    const char *directory = m->run->place.directory;

    m->watch_at = 0;
    m->readable = directory ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
    if (m->readable >= 0 && inotify_add_watch(m->readable, directory, IN_MODIFY | IN_ONLYDIR) < 0)
        fd_end(&m->readable); /* the kernel will not watch it */
    if (m->readable >= 0)
        m->judge_at = now();
    else if (m->stop)
        complain("the place of logs cannot be watched: --stop-on does nothing");
}

/* ---- errors of a log ---- */

/* Of an error: was it noted as one, and does that still hold? What may be a probe is not noted yet.
 * A log only says when to look: what is believed and printed is found from what it holds. */
static const struct wc_noted_finding *noted_error(const struct report *r,
                                                  const struct wc_finding_record *error) {
    const struct wc_stack *s = &r->source->stack;

    return WC_FIRST(f, s->findings,
                    error->severity == WC_severity_ERROR && wc_str_same(f->r.id, error->id) &&
                        f->r.severity == WC_severity_ERROR &&
                        !WC_ANY(later, s->findings, later > f && later->r.supersedes == f->seq));
}

static void consider(struct run_monitor *m, const struct report *r,
                     const struct wc_finding_record *f) {
    struct wc_finding_view view = {.before = "whichcudnn: ",
                                   .stack = &r->source->stack,
                                   .log = m->run->place.passing ? NULL : r->source->path,
                                   .lines = LIVE_LINES};
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    int64_t noted = noted_error(r, f)->time;

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
        if (m->held[i].fd >= 0)
            syscall(PIDFD_SEND_SIGNAL, m->held[i].fd, signal, NULL, 0);
        else
            kill(m->held[i].pid, signal);
}

static void judge(struct run_monitor *m, pid_t child) {
    const int64_t begun = now();
    ENDED_BY(child_logs_end) struct child_logs logs;
    bool stops = false;

    m->judge_at = 0;
    child_logs_find(&logs, &m->run->place, &m->family, child, m->run->start);
    for (size_t i = 0; i < logs.n; i++) {
        ENDED_BY(report_end) struct report r;
        report_make(&r, logs.found[i]);
        if (!WC_ANY(f, r.findings, noted_error(&r, f)))
            continue;
        if (m->stop) {
            /* A process that has the error may continue after the end of the command. Held before
             * that is reported anything: its children may lose their parent. */
            const struct source *log = logs.found[i];
            struct held_process held;
            if (log->pid != child && log->stack.has_process &&
                hold(child, log->pid, log->stack.process.start_ticks, &held))
                *MUST_ADD(m->held, m->held_count) = held;
            stops = true;
            continue;
        }
        report_plan(&r);
        WC_EACH(f, r.findings)
            if (noted_error(&r, f))
                consider(m, &r, f);
    }
    if (stops) {
        m->stopped = true;
        m->kill_at = now() + STOP_PATIENCE;
        signal_all(m, child, SIGTERM);
    }
    m->judge_after = now() + MAX(PAUSE_LEAST, PAUSE_TIMES * (now() - begun));
}

static int64_t sooner(int64_t a, int64_t b) {
    return a && (!b || a < b) ? a : b;
}

int run_monitor_check(void *arg, pid_t child, bool is_readable) {
    struct run_monitor *m = arg;

    if (m->look_at && m->look_at <= now()) {
        /* env -i, a launcher: what the command has become may be without the shim. */
        look_at_family(&m->family, child);
        m->preload_gone = preload_is_gone(child, m->run->shim);
        if (!m->preload_gone)
            note_program(&m->family, child);
        m->look_after = MIN(m->look_after * LOOK_RARER, LOOK_RAREST);
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
    int64_t next = sooner(sooner(m->look_at, m->watch_at), sooner(m->judge_at, m->kill_at));
    const int64_t left = MIN(next - now(), HOUR); /* poll takes an int */
    return !next ? -1 : left < 0 ? 0 : (int)(left / 1000) + 1;
}

void run_monitor_end(struct run_monitor *m) {
    fd_end(&m->readable);
    json_decref(m->told);
    for (size_t i = 0; i < m->held_count; i++)
        fd_end(&m->held[i].fd);
    free(m->held);
    WC_EACH(one, m->family.with_cudnn)
        free(one->library);
    free(m->family.with_cudnn.p);
    free(m->family.users);
    free(m->family.seen_program);
}
