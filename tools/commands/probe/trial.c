/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/util/clock.h"
#include "tools/util/memory.h"

#define FILES_OPEN 16
#define TEXT_MOST ((size_t)64 * 1024)

static _Noreturn void become(const struct trial *t, const int *to) {
    int nothing = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (t->prepare)
        t->prepare(t->arg);
    if (nothing >= 0)
        dup2(nothing, 0);
    dup2(to[0], 1);
    dup2(to[1], 2);
    if (t->instead) {
        t->instead();
        _exit(0);
    }
    execv(t->program ? t->program : "/proc/self/exe", t->arguments);
    _exit(127);
}

/* What does not fit is read and forgotten. False: the end. */
static bool read_some(int from, char *text, size_t *n) {
    char beyond[512];
    bool fits = *n < TEXT_MOST;
    ssize_t got = fits ? read(from, text + *n, TEXT_MOST - *n) : read(from, beyond, sizeof(beyond));

    if (got > 0 && fits)
        *n += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

static void attend(struct trial *t, pid_t child, int out, int err) {
    struct pollfd ends[] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    char *texts[] = {t->output, t->errors};
    int64_t deadline =
        t->patience ? clock_now(CLOCK_MONOTONIC) + t->patience * CLOCK_SECOND : INT64_MAX;
    size_t n[] = {0, 0};
    bool gone = false;

    while (!gone || poll(ends, 2, 0) > 0) {
        if (!gone)
            poll(ends, 2, ends[0].fd < 0 && ends[1].fd < 0 ? 1 : 50);
        for (int i = 0; i < 2; i++)
            if (ends[i].revents && !read_some(ends[i].fd, texts[i], &n[i]))
                ends[i].fd = -1;
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
    int out[2], err[2];
    pid_t child;

    t->timed_out = false;
    signal(SIGCHLD, SIG_DFL); /* ignored, as some parents leave it, no status would be kept */
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    child = fork();
    if (child == 0)
        become(t, (const int[]){out[1], err[1]});
    close(out[1]);
    close(err[1]);
    t->output = must_allocate(TEXT_MOST + 1);
    t->errors = must_allocate(TEXT_MOST + 1);
    if (child > 0)
        attend(t, child, out[0], err[0]);
    close(out[0]);
    close(err[0]);
    return child > 0;
}

void trial_end(struct trial *t) {
    free(t->output);
    free(t->errors);
    t->output = t->errors = NULL;
}

char *copy_tree(const char *from, const char *to) {
    char *arguments[] = {"sh",
                         "-c",
                         "exec cp -RPT --preserve=mode,timestamps --reflink=auto -- \"$0\" \"$1\"",
                         (char *)from,
                         (char *)to,
                         NULL};
    struct trial trial = {.program = "/bin/sh", .arguments = arguments};
    char *trouble = NULL;

    if (!trial_run(&trial))
        return must_format("%s: %s", from, strerror(errno));
    if (trial.status != 0)
        trouble = must_format("%s: %.*s", from, (int)strcspn(trial.errors, "\n"), trial.errors);
    trial_end(&trial);
    return trouble;
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

static int remove_one(const char *path, const struct stat *facts, int what, struct FTW *at) {
    (void)facts;
    (void)at;
    /* overlayfs has a directory there that no user may look into. */
    if (what == FTW_D || what == FTW_DNR)
        chmod(path, S_IRWXU);
    if (what == FTW_DP || what == FTW_DNR)
        rmdir(path);
    else if (what != FTW_D)
        unlink(path);
    return 0;
}

void remove_tree(const char *path) {
    /* First from above, to be allowed to go in; then from below. */
    nftw(path, remove_one, FILES_OPEN, FTW_PHYS | FTW_MOUNT);
    nftw(path, remove_one, FILES_OPEN, FTW_PHYS | FTW_MOUNT | FTW_DEPTH);
    rmdir(path);
}

void trial_directory_end(char *directory) {
    remove_tree(directory);
    free(directory);
}
