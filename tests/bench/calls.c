/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls THREADS BATCHES CALLS: calls two functions of libcudnn.so.9 in batches and prints what one
 * call costs a thread: "MEASURE VARIANT ROUND ns VALUE" (see launch.c), the median over all batches
 * of all threads, of processor time: waiting for a core does not count.
 *
 * The functions do nothing (cudnn.c), so that it is the call that is measured. MEASURE ends in "-3"
 * or "-13", the number of arguments.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cudnnBackendExecute(void *handle, void *plan, void *pack);
int cudnnConvolutionForward(void *handle, const void *alpha, void *xd, const void *x, void *wd,
                            const void *w, void *convd, int algo, void *space, size_t bytes,
                            const void *beta, void *yd, void *y);

static int batches, calls, many_arguments;

static double thread_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int call_3(int n) {
    int failed = 0;
    for (int i = 0; i < n; i++)
        failed |= cudnnBackendExecute((void *)1, (void *)2, (void *)3);
    return failed;
}

static int call_13(int n) {
    int failed = 0;
    for (int i = 0; i < n; i++)
        failed |= cudnnConvolutionForward((void *)1, (void *)2, (void *)3, (void *)4, (void *)5,
                                          (void *)6, (void *)7, 8, (void *)9, 10, (void *)11,
                                          (void *)12, (void *)13);
    return failed;
}

static void *measure(void *argument) {
    double *took = argument;
    int (*call)(int) = many_arguments ? call_13 : call_3;
    if (call(calls / 10 + 1)) /* warms up, and lets the first call be recorded */
        exit(1);
    for (int i = 0; i < batches; i++) {
        double start = thread_time();
        call(calls);
        took[i] = (thread_time() - start) / calls;
    }
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    const char *bench = getenv("BENCH");
    int threads = argc > 3 ? atoi(argv[1]) : 0;
    if (threads < 1 || threads > 256)
        return 2;
    batches = atoi(argv[2]);
    calls = atoi(argv[3]);
    many_arguments = bench && strstr(bench, "-13\t") != NULL;
    pthread_t ids[256];
    size_t n = (size_t)threads * (size_t)batches;
    double *took = calloc(n, sizeof *took);
    if (!took)
        return 1;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, measure, took + (size_t)i * (size_t)batches) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    qsort(took, n, sizeof *took, by_size);
    if (bench)
        printf("%s\tns\t%.4f\n", bench, took[n / 2]);
    free(took);
    return 0;
}
