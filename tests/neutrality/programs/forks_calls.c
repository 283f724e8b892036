/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forks_calls fork|vfork: the child calls cuDNN, first functions that the parent has called and
 * then others; so does the parent afterwards.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "answers.h"
#include "see.h"

static int call_some(void) {
    void *handle = NULL;
    return cudnnCreate(&handle) == 0 && handle == answers_who && cudnnGetVersion() == 90100;
}

static int call_more(void) {
    int property = 0;
    return cudnnGetProperty(0, &property) == 0 && property == 9 && cudnnOpsVersionCheck() == 0;
}

static void tell_child(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    see("child", "exited with %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

__attribute__((noinline)) static void by_fork(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(call_some() + call_more());
    tell_child(child);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
__attribute__((noinline)) static void by_vfork(void) {
    pid_t child = vfork();
    if (child == 0)
        _exit(call_some() + call_more());
    tell_child(child);
}

int main(int argc, char **argv) {
    void (*const start)(void) = argc > 1 && !strcmp(argv[1], "vfork") ? by_vfork : by_fork;
    see("parent", "%d", call_some());
    start();
    start();
    see("parent", "%d %d", call_some(), call_more());
    void *host = see_open("answers/layout.so", RTLD_NOW);
    long (*run)(void) = (long (*)(void))see_sym(host, "host_run");
    if (run)
        run();
    see_close("host", host);
    return 0;
}
