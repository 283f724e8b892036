/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opens N DIRECTORY: dlopens DIRECTORY/0.so to N-1.so one after another, and prints
 * "MEASURE VARIANT ROUND us VALUE" (see launch.c): the processor time of one dlopen.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double thread_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void open_one(const char *directory, int i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.so", directory, i);
    if (!dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        fprintf(stderr, "opens: %s\n", dlerror());
        exit(1);
    }
}

int main(int argc, char **argv) {
    const char *bench = getenv("BENCH");
    int n = argc > 2 ? atoi(argv[1]) : 0;
    if (n < 1)
        return 2;
    double start = thread_time();
    for (int i = 0; i < n; i++)
        open_one(argv[2], i);
    double took = (thread_time() - start) / n;
    if (bench)
        printf("%s\tus\t%.4f\n", bench, took);
    return 0;
}
