/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's dlopen is in the middle of relocating a host while another thread makes a dl* call,
 * at a time when the list of objects has changed.
 */
#include "slow.h"
#include "support.h"

static void *slow;

static void *open_slow_host(void *argument) {
    slow = open_library("./host-slow.so");
    return argument;
}

int main(void) {
    slow_milliseconds = 300;
    void *library = open_library("./host-bare.so");
    pthread_t thread = start(open_slow_host, NULL);
    wait_for(&slow_entered);
    printf("%ld\n", runner(library)());
    pthread_join(thread, NULL);
    printf("%ld\n", runner(slow)());
    printf("%ld\n", runner(slow)());
    tell_counts(RTLD_DEFAULT);
    return 0;
}
