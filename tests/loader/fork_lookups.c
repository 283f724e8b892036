/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_lookups CHILDREN: forks while other threads call dlsym all the time. Each child opens a host
 * and calls it; one that hangs is ended by its alarm.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "support.h"

static void *library;

static void *look_up(void *name) {
    for (;;)
        need(dlsym(library, name), name);
    return NULL;
}

static void child(void) {
    alarm(5);
    _exit(runner(open_library("./host-now.so"))() == 90100 ? 0 : 3);
}

int main(int argc, char **argv) {
    static char *const names[] = {"cudnnGetVersion", "calls_arrived", "calls_arrived"};
    library = open_library("libcudnn.so.9");
    int children = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < 3; i++)
        start(look_up, names[i]);
    for (int i = 0; i < children; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* one that hangs is not left behind */
            child();
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
            printf("child %d ended with %#x\n", i, (unsigned)status);
            return 1;
        }
    }
    printf("all well\n");
    return 0;
}
