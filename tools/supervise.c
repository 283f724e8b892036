/* See supervise.h. */
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct before { /* what the child gets back before exec */
    sigset_t mask;
    struct sigaction on_child;
};

/* Waited for, never handled: what was ignored when we were started (nohup) stays ignored. */
static void block_signals(sigset_t *waited, struct before *before) {
    static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct sigaction usual = {.sa_handler = SIG_DFL};

    sigemptyset(waited);
    sigaddset(waited, SIGCHLD);
    for (size_t i = 0; i < sizeof(handed_on) / sizeof(handed_on[0]); i++)
        sigaddset(waited, handed_on[i]);
    sigprocmask(SIG_BLOCK, waited, &before->mask);
    /* With SIGCHLD ignored, as some parents leave it, no status would be kept for us. */
    sigaction(SIGCHLD, &usual, &before->on_child);
}

static void restore_signals(const struct before *before) {
    sigaction(SIGCHLD, &before->on_child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

static _Noreturn void become(char **argv, int tell) {
    int error;

    execvp(argv[0], argv);
    error = errno;
    while (write(tell, &error, sizeof(error)) < 0 && errno == EINTR)
        ;
    _exit(error == ENOENT ? 127 : 126);
}

static int exec_error_from(int pipe_end) {
    int error = 0;
    ssize_t n;

    while ((n = read(pipe_end, &error, sizeof(error))) < 0 && errno == EINTR)
        ;
    return n == (ssize_t)sizeof(error) ? error : 0;
}

/* A signal from the terminal has reached the child already: it is in the same process group. */
static bool from_terminal(const siginfo_t *info) {
    return info->si_code == SI_KERNEL;
}

static void wait_for(pid_t pid, const sigset_t *waited, int *status) {
    siginfo_t info;
    int signal;

    while (waitpid(pid, status, WNOHANG) != pid) {
        signal = sigwaitinfo(waited, &info);
        if (signal > 0 && signal != SIGCHLD && !from_terminal(&info))
            kill(pid, signal);
    }
}

bool supervise(char **argv, prepare_child *prepare, void *arg, struct child *out) {
    struct before before;
    sigset_t waited;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    block_signals(&waited, &before);
    out->pid = fork();
    if (out->pid == 0) {
        restore_signals(&before);
        prepare(arg);
        become(argv, ends[1]);
    }
    close(ends[1]);
    if (out->pid > 0) {
        out->exec_error = exec_error_from(ends[0]);
        wait_for(out->pid, &waited, &out->status);
    }
    close(ends[0]);
    return out->pid > 0;
}
