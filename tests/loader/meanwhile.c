/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's dlopen is in the middle of relocating a host while another thread makes a dl* call,
 * at a time when the list of objects has changed. meanwhile      the call comes when the relocation
 * has begun meanwhile 1    the relocation begins behind the dladdr (of slow_answers.c) that the
 * call made meanwhile 2    and a while later, if that has time for it
 */
#include "slow.h"
#include "support.h"

static atomic_int *reached, finished;
static useconds_t pause_before;
static void *slow;

static void *open_slow_host(void *argument) {
    slow_milliseconds = 300;
    slow_entered = 0;
    slow = open_library("./host-slow.so");
    return argument;
}

/* The thread that closes makes no further dl* call, nor the one that opens an earlier one. */
static void *reload_slow_host(void *argument) {
    while (!*reached && !finished)
        usleep(1000);
    usleep(pause_before);
    dlclose(slow);
    pthread_join(start(open_slow_host, NULL), NULL);
    return argument;
}

int main(int argc, char **argv) {
    int which = argc > 1 ? atoi(argv[1]) : 0;
    void *library;
    pthread_t thread;
    if (which) {
        pause_before = which == 2 ? 100000 : 0;
        slow_milliseconds = 0;
        reached = need(dlsym(RTLD_DEFAULT, "answer_reached"), "answer_reached");
        int *slow_answer = need(dlsym(RTLD_DEFAULT, "slow_answer"), "slow_answer");
        slow = open_library("./host-slow.so");
        library = open_library("./host-bare.so");
        slow_entered = 0;
        thread = start(reload_slow_host, NULL);
        *slow_answer = which;
    } else {
        library = open_library("./host-bare.so");
        thread = start(open_slow_host, NULL);
        wait_for(&slow_entered);
    }
    run_function *run = runner(library);
    finished = 1;
    printf("%ld\n", run());
    pthread_join(thread, NULL);
    printf("%ld\n", runner(slow)());
    printf("%ld\n", runner(slow)());
    tell_counts(RTLD_DEFAULT);
    return 0;
}
