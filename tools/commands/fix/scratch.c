/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commands/probe/trial.h"

#define DESCRIPTORS_MOST 1024 /* close_range is younger than the systems that this is built on */

/* Whoever waits for our output or our group's end does not wait for it. */
static _Noreturn void keep(const char *path, int alive) {
    sigset_t all;
    char byte;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setsid();
    dup2(alive, 0);
    for (int fd = 1; fd < DESCRIPTORS_MOST; fd++)
        close(fd);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    remove_tree(path);
    _exit(0);
}

bool scratch_begin(struct scratch *s) {
    int ends[2];

    *s = (struct scratch){.path = trial_directory(), .keeper = -1, .alive = -1};
    if (!s->path)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return true;
    fflush(NULL);
    s->keeper = fork();
    if (s->keeper == 0) {
        close(ends[1]);
        keep(s->path, ends[0]);
    }
    close(ends[0]);
    s->alive = ends[1];
    return true;
}

void scratch_end(struct scratch *s) {
    if (s->alive >= 0)
        close(s->alive);
    if (s->keeper > 0)
        waitpid(s->keeper, NULL, 0);
    if (s->path)
        remove_tree(s->path);
    free(s->path);
    s->path = NULL;
}
