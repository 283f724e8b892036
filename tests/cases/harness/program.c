/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program: opens each library that is named, as Python opens an extension, and has it do the
 * words that follow, up to "--" and the next library. "=" as a name: what the program itself is
 * linked to. Says "done" where all went well.
 *
 * With HELD_AT_END=DIR it is held before it ends, whatever its status or by abort, with all that it
 * has mapped: it writes its number into the pipe DIR/ends and goes on when somebody has opened
 * DIR/goes-on.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*run_function)(int, char **);

#ifdef PROGRAM_LINKED
extern int host_run(int argc, char **argv);
#endif

static run_function find(const char *path) {
    void *handle;

#ifdef PROGRAM_LINKED
    if (!strcmp(path, "="))
        return host_run;
#endif
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fprintf(stderr, "ImportError: %s\n", dlerror());
    return handle ? (run_function)dlsym(handle, "host_run") : NULL;
}

static int open_pipe(const char *name, int flags) {
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", getenv("HELD_AT_END"), name);
    return open(path, flags);
}

static void be_held(void) {
    dprintf(open_pipe("ends", O_WRONLY), "%d\n", getpid());
    open_pipe("goes-on", O_RDONLY);
}

static void held_by_abort(int signal) {
    (void)signal;
    be_held();
}

int main(int argc, char **argv) {
    if (getenv("HELD_AT_END")) {
        atexit(be_held);
        signal(SIGABRT, held_by_abort);
    }
    for (int i = 1; i < argc; i++) {
        run_function run = find(argv[i++]);
        int first = i, status;
        while (i < argc && strcmp(argv[i], "--"))
            i++;
        status = run ? run(i - first, argv + first) : 1;
        if (status)
            return status;
    }
    puts("done");
    return 0;
}
