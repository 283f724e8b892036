/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/util/memory.h"
#include "tools/util/program.h"

#define TEXT_MOST ((size_t)64 * 1024)

/* ---- on our terminal, with signals handed on ---- */

struct before { /* what the child gets back before exec */
    sigset_t mask;
    struct sigaction on_child;
    pid_t parent;
};

/* Read from a descriptor, never handled: what was ignored when we were started (nohup) stays
 * ignored. Process 1 of a container gets only signals that it holds back or handles. */
static int signals = -1; /* one child is supervised at a time */

static void restore_signals(const struct before *before) {
    sigaction(SIGCHLD, &before->on_child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* Process 1 of a container is given every orphan. */
static bool has_ended(pid_t pid, const struct supervision *with, int *status) {
    pid_t gone, any = getpid() == 1 ? -1 : pid;
    siginfo_t info = {.si_pid = 0};
    int how;

    if (with->ended && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid)
        with->ended(with->arg, pid);
    while ((gone = waitpid(any, &how, WNOHANG)) > 0)
        if (gone == pid) {
            *status = how;
            return true;
        }
    return false;
}

/* By which signal it stands still; 0: it does not. It can be asked again. */
static int stopped_by(pid_t pid) {
    siginfo_t info = {.si_pid = 0};

    if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0)
        return 0;
    return info.si_pid == pid ? info.si_status : 0;
}

static bool has_terminal(void) {
    OWNED_FD int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    return fd >= 0;
}

/* The shell watches us, not the child: when the child stops (Ctrl-Z, a background read), so do we,
 * and what wakes us wakes the child, unless it reached both: then the child may stand still by
 * another signal already. Without a terminal there is no shell that would: a signal that stops the
 * child only will wake only it. */
static void follow_stop(pid_t pid, const struct supervision *with) {
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    const struct timespec at_once = {0, 0};
    const int signal = stopped_by(pid);
    sigset_t one;

    if (!signal || !has_terminal())
        return;
    if (with->stops)
        with->stops(with->arg);
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigaction(signal, &usual, &before);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here we stand still, until a SIGCONT */
    sigprocmask(SIG_BLOCK, &one, NULL);
    sigaction(signal, &before, NULL);
    sigemptyset(&one);
    sigaddset(&one, SIGCONT);
    sigtimedwait(&one, NULL, &at_once);
    if (stopped_by(pid) == signal)
        kill(pid, SIGCONT);
}

/* A signal from the terminal has reached the child already: it is in the same process group. Our
 * own is what a closed pipe gives us. A timer that was set before exec (perl's `alarm`) is ours
 * only: no child inherits it. */
static void hand_on(pid_t pid, bool whole_group, const struct signalfd_siginfo *s) {
    int signal = (int)s->ssi_signo;
    union sigval value = {.sival_ptr = (void *)(uintptr_t)s->ssi_ptr};

    if (signal == SIGCHLD || (s->ssi_code == SI_KERNEL && signal != SIGALRM) ||
        s->ssi_pid == (uint32_t)getpid())
        return;
    if (signal == SIGCONT && !stopped_by(pid))
        return;
    if (s->ssi_code == SI_QUEUE)
        sigqueue(pid, signal, value);
    else
        kill(whole_group && getpgid(pid) == pid ? -pid : pid, signal);
}

static bool next_signal(struct child *child, struct signalfd_siginfo *one) {
    if (read(signals, one, sizeof(*one)) != (ssize_t)sizeof(*one))
        return false;
    if (one->ssi_signo == SIGINT || one->ssi_signo == SIGTERM || one->ssi_signo == SIGHUP ||
        one->ssi_signo == SIGQUIT)
        child->asked = (int)one->ssi_signo;
    return true;
}

static void wait_for(struct child *child, const struct supervision *with) {
    const pid_t pid = child->pid;
    struct pollfd ready[] = {{.fd = signals, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
    struct signalfd_siginfo one;
    int patience;

    while (!has_ended(pid, with, &child->status)) {
        follow_stop(pid, with);
        patience = with->meanwhile ? with->meanwhile(with->arg, pid, ready[1].revents != 0) : -1;
        ready[1].fd = with->readable ? *with->readable : -1; /* poll passes a negative one over */
        if (poll(ready, 2, patience) < 0)
            ready[1].revents = 0;
        while (next_signal(child, &one))
            hand_on(pid, with->whole_group, &one);
    }
    while (next_signal(child, &one))
        ; /* those were the command's: it ended before it could get them */
}

void supervise_rest(struct child *child) {
    wait_for(child, &(const struct supervision){.arg = NULL});
}

bool supervise(char **argv, const struct supervision *with, struct child *out) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    struct before before = {.parent = getpid()};
    int ends[2], error;
    sigset_t all;

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        out->exec_error = errno;
        return false;
    }
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before.mask);
    /* With SIGCHLD ignored, as some parents leave it, no status would be kept for us. */
    sigaction(SIGCHLD, &usual, &before.on_child);
    signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    out->pid = signals < 0 ? -1 : fork();
    error = errno;
    if (out->pid == 0) {
        restore_signals(&before);
        /* A SIGKILL of us means the command: it must not live on unseen and keep its GPU. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != before.parent)
            _exit(128 + SIGKILL);
        if (with->whole_group && !has_terminal())
            setpgid(0, 0);
        if (with->instead) {
            close(ends[1]);
            _exit(with->instead(with->arg));
        }
        if (with->prepare)
            with->prepare(with->arg);
        execvp(argv[0], argv);
        error = errno;
        while (write(ends[1], &error, sizeof(error)) < 0 && errno == EINTR)
            ;
        _exit(error == ENOENT ? 127 : 126);
    }
    close(ends[1]);
    if (out->pid > 0) {
        /* The errno of exec; nothing where it went well. */
        while (read(ends[0], &out->exec_error, sizeof(error)) < 0 && errno == EINTR)
            ;
        wait_for(out, with);
        if (!with->holds)
            sigprocmask(SIG_SETMASK, &before.mask, NULL);
    } else {
        out->exec_error = error;
        restore_signals(&before);
    }
    close(ends[0]);
    fd_end(&signals);
    errno = error;
    return out->pid > 0;
}

int child_exit_code(const struct child *child) {
    if (child->exec_error)
        return child->exec_error == ENOENT ? 127 : 126;
    if (WIFSIGNALED(child->status))
        return 128 + WTERMSIG(child->status);
    return WEXITSTATUS(child->status);
}

/* ---- with its output kept ---- */

static void attend(struct trial *t, pid_t child, int out, int err) {
    struct pollfd ends[] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    char *texts[] = {t->output, t->errors}, beyond[512];
    int64_t deadline =
        t->patience ? clock_now(CLOCK_MONOTONIC) + t->patience * CLOCK_SECOND : INT64_MAX;
    size_t n[] = {0, 0};
    bool gone = false;

    while (poll(ends, 2, gone ? 0 : ends[0].fd < 0 && ends[1].fd < 0 ? 1 : 50) > 0 || !gone) {
        for (int i = 0; i < 2; i++) {
            /* What does not fit is read and forgotten. */
            const bool fits = n[i] < TEXT_MOST;
            if (!ends[i].revents)
                continue;
            ssize_t got = read(ends[i].fd, fits ? texts[i] + n[i] : beyond,
                               fits ? TEXT_MOST - n[i] : sizeof(beyond));
            if (got > 0 && fits)
                n[i] += (size_t)got;
            if (got == 0 || (got < 0 && errno != EINTR))
                ends[i].fd = -1;
        }
        /* What it started may hold the pipes open longer than it lives. */
        gone = gone || waitpid(child, &t->status, WNOHANG) != 0;
        if (clock_now(CLOCK_MONOTONIC) < deadline)
            continue;
        t->timed_out = !gone;
        if (!gone && kill(child, SIGKILL) == 0)
            waitpid(child, &t->status, 0);
        return;
    }
}

bool trial_run(struct trial *t) {
    int out[] = {-1, -1}, err[] = {-1, -1}, nothing;

    t->timed_out = false;
    signal(SIGCHLD, SIG_DFL); /* ignored, as some parents leave it, no status would be kept */
    pid_t child = pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0 ? fork() : -1;
    if (child == 0) {
        nothing = open("/dev/null", O_RDONLY);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (t->prepare)
            t->prepare(t->arg);
        if (nothing >= 0)
            dup2(nothing, 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        if (t->instead)
            _exit(t->instead(t->arg));
        execv(t->program ?: "/proc/self/exe", t->arguments);
        _exit(127);
    }
    fd_end(&out[1]);
    fd_end(&err[1]);
    if (child > 0) {
        t->output = must_allocate(TEXT_MOST + 1);
        t->errors = must_allocate(TEXT_MOST + 1);
        attend(t, child, out[0], err[0]);
    }
    fd_end(&out[0]);
    fd_end(&err[0]);
    return child > 0;
}

void trial_end(struct trial *t) {
    free(t->output);
    free(t->errors);
    t->output = t->errors = NULL;
}

char *trouble_of(const char *path) {
    return must_format("%s: %s", path, strerror(errno));
}

char *copy_tree(const char *from, const char *to) {
    static char script[] =
        "exec cp -RPT --preserve=mode,timestamps --reflink=auto -- \"$0\" \"$1\"";
    char *arguments[] = {"sh", "-c", script, (char *)from, (char *)to, NULL};
    ENDED_BY(trial_end) struct trial trial = {.program = "/bin/sh", .arguments = arguments};

    if (!trial_run(&trial))
        return trouble_of(from);
    if (trial.status != 0)
        return must_format("%s: %.*s", from, (int)strcspn(trial.errors, "\n"), trial.errors);
    return NULL;
}

void trial_watch(const char *preload, const char *log) {
    unsetenv("WHICHCUDNN_RUN_PID");
    setenv("WHICHCUDNN_STDERR", "off", 1);
    setenv("WHICHCUDNN_LOG", log, 1);
    setenv("LD_PRELOAD", preload, 1);
}

char *trial_directory(void) {
    const char *temporary = getenv("TMPDIR");
    const char *const places[] = {temporary && *temporary ? temporary : "/tmp", "/tmp", "/dev/shm",
                                  "."};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        OWNED char *path = must_format("%s/whichcudnn-XXXXXX", places[i]);
        char *whole = mkdtemp(path) ? realpath(path, NULL) : NULL;
        if (whole)
            return whole;
    }
    return NULL;
}

bool has_little_room(const char *path, uint64_t bytes) {
    struct statvfs facts;

    return statvfs(path, &facts) == 0 && facts.f_bavail * facts.f_frsize < bytes;
}

void remove_tree(const char *path) {
    FTS *walk =
        fts_open((char *const[]){(char *)path, NULL}, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);

    for (FTSENT *e; walk && (e = fts_read(walk));)
        if (e->fts_info == FTS_D)
            chmod(e->fts_path, S_IRWXU); /* to be allowed to go in */
        else if (e->fts_info == FTS_DP || e->fts_info == FTS_DNR)
            rmdir(e->fts_path);
        else
            unlink(e->fts_path);
    if (walk)
        fts_close(walk);
}

void trial_directory_end(char **directory) {
    if (*directory)
        remove_tree(*directory);
    free(*directory);
}
