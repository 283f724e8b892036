/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/util/memory.h"

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
 * alone: no child inherits it. */
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
