/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls [TIMES]: a program that is itself a host: calls cuDNN so many times (2).
 * calls threads: 16 threads make their first calls at once; a few more calls come when these are
 * over (while one thread's call is resolving a lazy slot, another's may go past us).
 */
#include <stdbool.h>
#include <string.h>

#include "support.h"

extern size_t cudnnGetVersion(void);
extern size_t cudnnGetCudartVersion(void);
extern int cudnnCreate(void **handle);

static atomic_int together, good;

#ifdef INDIRECT
static int two(void) {
    return 2;
}
static int (*choose(void))(void) {
    return two;
}
static int indirect(void) __attribute__((ifunc("choose")));
#else
static int indirect(void) {
    return 2;
}
#endif

static int call_all(void) {
    void *handle = NULL;
    return cudnnCreate(&handle) == 0 && cudnnGetVersion() == 90100 &&
           cudnnGetCudartVersion() == 12040;
}

static void *call_at_once(void *argument) {
    for (together++;
         together < 16;) /* awake when it comes to 16, as many as there are processors */
        sched_yield();
    for (int i = 0; i < 3; i++)
        good += call_all();
    return argument;
}

static int call_in_threads(void) {
    pthread_t threads[16];
    for (int i = 0; i < 16; i++)
        threads[i] = start(call_at_once, NULL);
    for (int i = 0; i < 16; i++)
        pthread_join(threads[i], NULL);
    return good;
}

int main(int argc, char **argv) {
    bool threads = argc > 1 && !strcmp(argv[1], "threads");
    int times = argc > 1 && !threads ? atoi(argv[1]) : indirect();
    int done = 0;
    if (threads) {
        printf("%d\n", call_in_threads());
        if (getenv("COUNTS"))
            printf("at first ");
        tell_counts(RTLD_DEFAULT);
    }
    for (int i = 0; i < times; i++)
        done += call_all();
    printf("%d\n", done);
    tell_counts(RTLD_DEFAULT);
    return 0;
}
