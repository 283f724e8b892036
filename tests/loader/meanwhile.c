/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's dlopen is in the middle of relocating a host while another thread makes a dl* call,
 * at a time when the list of objects has changed; with an argument also a dlsym for a function of
 * cuDNN, at a time when this thread has nothing to catch up with.
 */
#include "slow.h"
#include "support.h"

static void *slow;

static void *open_slow_host(void *argument) {
    slow = open_library("./host-slow.so");
    return argument;
}

int main(int count, char **arguments) {
    (void)arguments;
    slow_milliseconds = 300;
    void *library = open_library("./host-bare.so");
    void *cudnn = count > 1 ? open_library("./libcudnn.so.9") : NULL;
    if (cudnn)
        need(dlsym(cudnn, "cudnnCreate"), "cudnnCreate");
    pthread_t thread = start(open_slow_host, NULL);
    wait_for(&slow_entered);
    if (cudnn)
        need(dlsym(cudnn, "cudnnGetVersion"), "cudnnGetVersion");
    printf("%ld\n", runner(library)());
    pthread_join(thread, NULL);
    printf("%ld\n", runner(slow)());
    printf("%ld\n", runner(slow)());
    tell_counts(RTLD_DEFAULT);
    return 0;
}
