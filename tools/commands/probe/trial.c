/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/util/memory.h"
#include "tools/util/program.h"

#define TEXT_MOST ((size_t)64 * 1024)

static void attend(struct trial *t, pid_t child, int out, int err) {
    struct pollfd ends[] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    char *texts[] = {t->output, t->errors}, beyond[512];
    int64_t deadline =
        t->patience ? clock_now(CLOCK_MONOTONIC) + t->patience * CLOCK_SECOND : INT64_MAX;
    size_t n[] = {0, 0};
    bool gone = false;

    while (!gone || poll(ends, 2, 0) > 0) {
        if (!gone)
            poll(ends, 2, ends[0].fd < 0 && ends[1].fd < 0 ? 1 : 50);
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
    int out[2], err[2], nothing;

    t->timed_out = false;
    signal(SIGCHLD, SIG_DFL); /* ignored, as some parents leave it, no status would be kept */
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        nothing = open("/dev/null", O_RDONLY);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (t->prepare)
            t->prepare(t->arg);
        if (nothing >= 0)
            dup2(nothing, 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        if (t->instead) {
            t->instead();
            _exit(0);
        }
        execv(t->program ? t->program : "/proc/self/exe", t->arguments);
        _exit(127);
    }
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

char *trouble_of(const char *path) {
    return must_format("%s: %s", path, strerror(errno));
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
        return trouble_of(from);
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

void trial_directory_end(char *directory) {
    remove_tree(directory);
    free(directory);
}
