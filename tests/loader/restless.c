/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restless CYCLES: one thread opens and closes a host that is slow to relocate, all the time, while
 * another opens, calls and closes one that is noticed in the dl* call behind it only.
 */
#include "slow.h"
#include "support.h"

static atomic_int over;
static atomic_ulong good;

static void *open_and_close(void *argument) {
    (void)argument;
    for (int i = 0; !over; i++) {
        char name[32];
        snprintf(name, sizeof name, "./bare-%d.so", i % 200);
        void *library = open_library(name);
        if (runner(library)() != 90100)
            abort();
        dlclose(library);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int cycles = argc > 1 ? atoi(argv[1]) : 0;
    slow_milliseconds = 1;
    pthread_t thread = start(open_and_close, NULL);
    for (int i = 0; i < cycles; i++) {
        void *library = open_library("./host-slow.so");
        good += runner(library)() == 90100;
        dlclose(library);
    }
    over = 1;
    pthread_join(thread, NULL);
    printf("%lu of %d\n", (unsigned long)good, cycles);
    tell_counts(RTLD_DEFAULT);
    return 0;
}
