/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A start-up library whose constructor starts a thread that opens a host; it returns in the middle
 * of that host's relocation, so that the next start-up objects are initialised meanwhile.
 */
#include "slow.h"
#include "support.h"

static pthread_t thread;
static void *library;

static void *open_slow_host(void *argument) {
    library = open_library("./host-slow.so");
    return argument;
}

__attribute__((constructor)) static void begin(void) {
    thread = start(open_slow_host, NULL);
    wait_for(&slow_entered);
}

long starter_run(void);
long starter_run(void) {
    pthread_join(thread, NULL);
    return runner(library)();
}
