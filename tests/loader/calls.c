/*
 * calls [TIMES]: a program that is itself a host: calls cuDNN so many times (2).
 * calls threads: 16 threads make their first calls at once.
 */
#include <string.h>

#include "support.h"

extern size_t cudnnGetVersion(void);
extern size_t cudnnGetCudartVersion(void);
extern int cudnnCreate(void **handle);

static pthread_barrier_t together;
static atomic_int good;

static int call_all(void) {
    void *handle = NULL;
    return cudnnCreate(&handle) == 0 && cudnnGetVersion() == 90100 &&
           cudnnGetCudartVersion() == 12040;
}

static void *call_at_once(void *argument) {
    pthread_barrier_wait(&together);
    for (int i = 0; i < 3; i++)
        good += call_all();
    return argument;
}

static int call_in_threads(void) {
    pthread_t threads[16];
    pthread_barrier_init(&together, NULL, 16);
    for (int i = 0; i < 16; i++)
        threads[i] = start(call_at_once, NULL);
    for (int i = 0; i < 16; i++)
        pthread_join(threads[i], NULL);
    return good;
}

int main(int argc, char **argv) {
    int times = argc > 1 ? atoi(argv[1]) : 2, done = 0;
    if (argc > 1 && !strcmp(argv[1], "threads"))
        done = call_in_threads();
    for (int i = 0; i < times; i++)
        done += call_all();
    printf("%d\n", done);
    tell_counts(RTLD_DEFAULT);
    return 0;
}
