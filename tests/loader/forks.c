/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that forks. Prints what became of its children; their own calls are told in their logs.
 *   forks child          the parent calls, then a child makes its first call of another function
 *   forks quiet          the child calls only what the parent did
 *   forks asks NAME      the parent asks for a library in vain, then a child does
 *   forks exec FILE      the child becomes another program
 *   forks become FILE    the parent itself does
 *   forks spawn          vfork, posix_spawn and system
 *   forks share FILE N   threads open, call and close the file (as below) while N children that
 * share our memory (vfork) elf_file a function up and call it; then the parent does forks storm
 * FILE N threads open, call and close the file (%d: the thread's number) while N children are
 * forked, each of which makes a first call
 */
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "support.h"

extern int cudnnCreate(void **handle);
extern int cudnnCnnVersionCheck(void);
extern char **environ;

static int create(void) {
    void *handle;
    return cudnnCreate(&handle);
}

/* Exit status of the child; beyond 255 where a signal ended it. */
static int wait_for_child(pid_t pid) {
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

static int fork_and(int (*work)(void)) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        exit(work());
    }
    return wait_for_child(pid);
}

static const char *file;

static int ask(void) {
    void *library = dlopen(file, RTLD_LAZY);
    puts(library ? file : dlerror());
    return library != NULL;
}

static int become(void) {
    execl(file, file, (char *)NULL);
    return 127;
}

static int spawn_all(void) {
    char *const arguments[] = {"true", NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        execv("/bin/true", arguments);
        _exit(127);
    }
    int first = wait_for_child(pid);
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) != 0)
        return -1;
    return first + wait_for_child(pid) + system("exit 3");
}

static atomic_int over;

static void *open_and_close(void *number) {
    char name[64];
    const char *mark = strstr(file, "%d");
    snprintf(name, sizeof name, "%.*s%ld%s", (int)(mark - file), file, (long)number, mark + 2);
    while (!over) {
        void *library = open_library(name);
        if (runner(library)() != 90100)
            abort();
        dlclose(library);
    }
    return NULL;
}

static int child_of_fork(void) {
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(cudnnCnnVersionCheck());
    }
    return wait_for_child(pid);
}

static void *cudnn;

static int child_of_vfork(void) {
    pid_t pid = vfork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int (*check)(void) = (int (*)(void))dlsym(cudnn, "cudnnOpsVersionCheck");
        _exit(check() == 1 ? cudnnCnnVersionCheck() : 0);
    }
    return wait_for_child(pid);
}

static int storm(int children, int (*child)(void)) {
    pthread_t threads[4];
    int good = 0;
    for (long i = 0; i < 4; i++)
        threads[i] = start(open_and_close, (void *)i);
    for (int i = 0; i < children; i++)
        good += child() == 2;
    over = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return good;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    file = argc > 2 ? argv[2] : "";
    int created = create();
    if (!strcmp(how, "child"))
        printf("%d %d\n", created, fork_and(cudnnCnnVersionCheck));
    else if (!strcmp(how, "quiet"))
        printf("%d %d\n", created, fork_and(create));
    else if (!strcmp(how, "asks")) {
        int found = ask();
        printf("%d %d\n", found, fork_and(ask));
    } else if (!strcmp(how, "exec"))
        printf("%d %d\n", created, fork_and(become));
    else if (!strcmp(how, "become"))
        return become();
    else if (!strcmp(how, "spawn"))
        printf("%d %#x\n", created, spawn_all());
    else if (!strcmp(how, "storm") && argc > 3)
        printf("%d of %s\n", storm(atoi(argv[3]), child_of_fork), argv[3]);
    else if (!strcmp(how, "share") && argc > 3) {
        cudnn = open_library("libcudnn.so.9");
        int shared = storm(atoi(argv[3]), child_of_vfork);
        dlopen("libcudnn_afterwards.so.9", RTLD_NOW); /* its place in the log is asked for */
        int (*check)(void) = (int (*)(void))dlsym(cudnn, "cudnnOpsVersionCheck");
        int checked = check();
        printf("%d of %s, %d %d\n", shared, argv[3], checked, cudnnCnnVersionCheck());
    } else
        return 2;
    return 0;
}
