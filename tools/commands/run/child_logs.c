/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/observe/log/source.h"
#include "tools/util/program.h"

bool family_has_user(const void *family, uid_t user) {
    const struct family *f = family;

    return WC_ANY(one, WC_ITEMS(f->users, f->user_count), *one == user);
}

WC_COMPARE(older_first, struct source *const, WC_ORDER((*x)->first_time, (*y)->first_time));

void child_logs_find(struct child_logs *c, const struct log_place *place,
                     const struct family *family, pid_t child, int64_t start) {
    OWNED char *begin = must_format("%s/%s", place->directory, place->prefix);
    OWNED_GLOB glob_t logs = glob_below("", begin, "*", GLOB_NOSORT);
    struct stat facts;

    memset(c, 0, sizeof(*c));
    for (size_t i = 0; place->directory && i < logs.gl_pathc; i++) {
        const char *path = logs.gl_pathv[i];
        OWNED char *trouble = NULL;
        if (lstat(path, &facts) != 0 ||
            facts.st_mtim.tv_sec + 1 < start / CLOCK_SECOND) /* by a coarser clock than ours */
            continue;
        int fd = log_open_of(path, family_has_user, family, &trouble);
        if (fd >= 0) /* it may be something else under such a name */
            logs_read_descriptor(&c->all, fd, path, &trouble);
        else if (!c->passed_over)
            c->passed_over = must_format("%s (%s)", path, trouble);
    }
    c->found = must_allocate(c->all.process_count * sizeof(struct source *));
    /* The mark is inherited: what the child started has its own pid and the child's mark. */
    EACH_POINTER(p, c->all.processes, c->all.process_count) {
        if (p->first_time >= start - CLOCK_SECOND &&
            (p->pid == child || (p->stack.has_process && p->stack.process.run_pid == child)))
            c->found[c->n++] = p;
    }
    qsort(c->found, c->n, sizeof(struct source *), older_first);
    c->replaced_count = c->n - images_join(c->found, c->n);
    c->n -= c->replaced_count;
    c->replaced = c->found + c->n;
    for (size_t i = 0; i < c->n; i++)
        if (c->found[i]->pid == child)
            c->own = c->found[i];
}

void child_logs_end(struct child_logs *c) {
    free(c->found);
    free(c->passed_over);
    logs_end(&c->all);
}

/* ---- the outcome ---- */

/* sigabbrev_np is younger (glibc 2.32) than the oldest system that the command is built on. */
static const char *name_of_signal(int signal) {
    static const char *const names[] = {
        [SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT",
        [SIGILL] = "SIGILL",   [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT",
        [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",   [SIGKILL] = "SIGKILL",
        [SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
        [SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM",
        [SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ", [SIGVTALRM] = "SIGVTALRM",
        [SIGPROF] = "SIGPROF", [SIGIO] = "SIGIO",     [SIGSYS] = "SIGSYS",
    };

    return signal > 0 && (size_t)signal < sizeof(names) / sizeof(names[0]) ? names[signal] : NULL;
}

void outcome_begin(struct wc_record *r, const struct child *child) {
    struct wc_outcome_record *o = &r->u.outcome;

    wc_record_begin(r, WC_KIND_outcome);
    r->time = clock_now(CLOCK_REALTIME);
    r->seq = 1;
    r->pid = r->tid = getpid();
    o->child = child->pid;
    if (child->exec_error) {
        o->ending = WC_ending_NOT_STARTED;
    } else if (WIFSIGNALED(child->status)) {
        o->ending = WC_ending_SIGNALED;
        o->signal = WTERMSIG(child->status);
        o->signal_name = name_of_signal(WTERMSIG(child->status));
    } else {
        o->ending = WC_ending_EXITED;
        o->exit_status = WEXITSTATUS(child->status);
    }
}

bool outcome_write(const char *path, bool is_new, const struct log_file *read,
                   const struct wc_record *r) {
    char line[WC_RECORD_MAX], last = '\n';
    size_t n = wc_record_write(r, line, sizeof(line));
    OWNED_FD int fd = open(path,
                           (is_new ? O_CREAT | O_EXCL : 0) | O_RDWR | O_APPEND | O_CLOEXEC |
                               O_NOFOLLOW | O_NOCTTY,
                           0644);
    struct stat facts;

    if (fd < 0)
        return false;
    /* In a shared directory something else may be there by now. */
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_nlink != 1 ||
        (read ? facts.st_dev != read->device || facts.st_ino != read->inode
              : facts.st_uid != geteuid())) {
        errno = EINVAL;
        return false;
    }
    /* A process that was killed, or whose disk was full, may have left half a line. */
    if (facts.st_size > 0 && pread(fd, &last, 1, facts.st_size - 1) != 1)
        return false;
    return (last == '\n' || write(fd, "\n", 1) == 1) && write(fd, line, n) == (ssize_t)n;
}

void outcome_append(void *log, struct wc_record *r) {
    struct source *to = log;

    r->seq = ++to->last_seq;
    r->time = clock_now(CLOCK_REALTIME);
    r->pid = r->tid = getpid();
    to->records++;
    source_apply(to, r);
    if (*to->path && !outcome_write(to->path, false, to->file, r))
        complain("%s: %s", to->path, strerror(errno));
}

void outcome_tell(void *log, struct wc_record *r) {
    if (writer_state(log) == WRITER_RUNS)
        source_apply(log, r);
    else
        outcome_append(log, r);
}

void outcome_add(struct source *own, struct wc_record *r) {
    struct wc_outcome_record *o = &r->u.outcome;

    o->observed = own->stack.has_process && !o->reason;
    o->during = in_flight_last(&own->in_flight, &o->during_seq);
    outcome_append(own, r);
}

char *outcome_path(const struct log_place *place, int64_t child) {
    const char *name = place->directory ? place->value + strlen(place->directory) : NULL;
    struct utsname node;

    if (!name || strchr(place->value, '%'))
        return NULL;
    if (name[strspn(name, "/")])
        return must_copy(place->value);
    if (uname(&node) != 0)
        return NULL;
    return must_format("%s/whichcudnn-%s-%lld-outcome.jsonl", place->directory, node.nodename,
                       (long long)child);
}

void outcome_leave(const struct log_place *place, struct wc_record *r, const char *reason) {
    OWNED char *path = place->named ? outcome_path(place, r->u.outcome.child) : NULL;
    OWNED char *other = path ? log_place_other_name(path, r->u.outcome.child) : NULL;

    r->u.outcome.reason = reason;
    if (path && !outcome_write(path, true, NULL, r) &&
        (errno != EEXIST || !outcome_write(other, true, NULL, r)))
        complain("%s: %s", path, strerror(errno));
}
