/* SPDX-License-Identifier: Apache-2.0 */
/*
 * awake WHAT N DIRECTORY: opens DIRECTORY/libcudnn.so.9, so that the shim is awake, then does WHAT
 * N times, and prints "MEASURE VARIANT ROUND us VALUE" (see launch.c): the processor time of one,
 * its children's included.
 *
 *   failed-open    a dlopen of a file that does not exist and whose name does not matter
 *   failed-lookup  a dlsym of a function that cuDNN does not have, and dlerror
 *   unrelated      dlopen, dlsym and dlclose of DIRECTORY/unrelated.so
 *   children       a child that opens cuDNN, looks a function up, calls it and ends
 *   libraries      a dlopen of DIRECTORY/I/libcudnn.so.9, each another file
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "awake: %s: %s\n", what, dlerror());
    exit(1);
}

static void *open_in(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail(path);
    return library;
}

static void call_cudnn(const char *directory) {
    size_t (*version)(void) =
        (size_t(*)(void))dlsym(open_in(directory, "libcudnn.so.9"), "cudnnGetVersion");
    _exit(version && version() ? 0 : 1);
}

static void do_one(const char *what, int i, const char *directory, void *cudnn) {
    char name[64];
    int status = 0;
    if (!strcmp(what, "failed-open")) {
        snprintf(name, sizeof name, "/nowhere/%d/plugin.so", i);
        if (dlopen(name, RTLD_NOW))
            exit(1);
    } else if (!strcmp(what, "failed-lookup")) {
        snprintf(name, sizeof name, "cudnnNothing%d", i);
        if (dlsym(cudnn, name) || !dlerror())
            exit(1);
    } else if (!strcmp(what, "unrelated")) {
        void *library = open_in(directory, "unrelated.so");
        if (!dlsym(library, "unrelated") || dlclose(library))
            fail(what);
    } else if (!strcmp(what, "children")) {
        pid_t child = fork();
        if (!child)
            call_cudnn(directory);
        if (waitpid(child, &status, 0) != child || status)
            exit(1);
    } else {
        snprintf(name, sizeof name, "%d/libcudnn.so.9", i);
        open_in(directory, name);
    }
}

static double microseconds(int who) {
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
    const char *bench = getenv("BENCH");
    int n = argc > 3 ? atoi(argv[2]) : 0;
    if (n < 1)
        return 2;
    /* Who asks for cuDNN only in children is asleep until then. */
    void *cudnn = strcmp(argv[1], "children") ? open_in(argv[3], "libcudnn.so.9") : NULL;
    double start = microseconds(RUSAGE_SELF) + microseconds(RUSAGE_CHILDREN);
    for (int i = 0; i < n; i++)
        do_one(argv[1], i, argv[3], cudnn);
    double took = microseconds(RUSAGE_SELF) + microseconds(RUSAGE_CHILDREN) - start;
    if (bench)
        printf("%s\tus\t%.4f\n", bench, took / n);
    return 0;
}
