/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_beside HOW CHILDREN [PAUSE]: forks while another thread makes dl calls all the time, PAUSE
 * microseconds between them; cuDNN is loaded. Each child opens a library that its parent has not.
 *   reopens   that thread opens cuDNN once more, looks a function up in it, closes it
 *   itself    opens and closes the program itself, and looks a function up
 *   looks-up  only looks it up
 *   imports   has opened 200 libraries and does so again
 *   loads     has the loader map and unmap one after the other, beside which no child of any
 *             program is safe: it is told how many of them hung (a second), or came to harm
 */
#include <string.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "support.h"

enum { LIBRARIES = 200 };

static const char *how;
static useconds_t pause_between;
static void *cudnn;
static atomic_int ready, over;

static void *open_ordinary(int i) {
    char name[32];
    snprintf(name, sizeof name, "./ordinary-%d.so", i % LIBRARIES);
    return open_library(name);
}

static void make_calls(int i) {
    void *library = NULL;
    if (!strcmp(how, "reopens"))
        library = open_library("libcudnn.so.9");
    else if (!strcmp(how, "itself"))
        library = need(dlopen(NULL, RTLD_NOW), "itself");
    else if (strcmp(how, "looks-up") != 0)
        library = open_ordinary(i);
    need(dlsym(cudnn, "cudnnCreate"), "cudnnCreate");
    if (library)
        dlclose(library);
}

static void *work(void *argument) {
    for (int i = 0; !strcmp(how, "imports") && i < LIBRARIES; i++)
        open_ordinary(i);
    ready = 1;
    for (int i = 0; !over; i++) {
        make_calls(i);
        if (pause_between)
            usleep(pause_between);
    }
    return argument;
}

static int child(unsigned seconds) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* one that hangs is not left behind */
        alarm(seconds);
        void *library = dlopen("./ordinary.so", RTLD_NOW);
        _exit(library && dlsym(library, "ordinary") ? 0 : 3);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv) {
    how = argc > 2 ? argv[1] : "";
    int children = argc > 2 ? atoi(argv[2]) : 0, hung = 0, harmed = 0;
    pause_between = argc > 3 ? (useconds_t)atoi(argv[3]) : 0;
    int loads = !strcmp(how, "loads");
    cudnn = open_library("libcudnn.so.9");
    pthread_t thread = start(work, NULL);
    wait_for(&ready);
    for (int i = 0; i < children; i++) {
        int status = child(loads ? 1 : 10);
        int is_hung = status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        hung += is_hung;
        harmed += status != 0 && !is_hung;
        if (!loads && status != 0) {
            printf("child %d ended with %#x\n", i, (unsigned)status);
            return 1;
        }
    }
    over = 1;
    pthread_join(thread, NULL);
    if (loads)
        printf("%d\n%d\n", hung, harmed);
    else
        printf("all well\n");
    return 0;
}
