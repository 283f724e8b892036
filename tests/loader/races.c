/* SPDX-License-Identifier: Apache-2.0 */
/*
 * races: two threads write one variable without a lock, the second one later. Between the two
 * writes each of them calls cuDNN for the first time: if the shim's lock counted as
 * the host's, it would order the writes.
 */
#include "support.h"

extern int cudnnCreate(void **handle);
extern size_t cudnnGetVersion(void);

static int unguarded;

static void *write_before(void *argument) {
    void *handle;
    unguarded = 1;
    if (cudnnCreate(&handle) != 0)
        abort();
    return argument;
}

static void *write_after(void *argument) {
    usleep(500000);
    if (cudnnGetVersion() != 90100)
        abort();
    unguarded = 2;
    return argument;
}

int main(void) {
    pthread_t before = start(write_before, NULL), after = start(write_after, NULL);
    pthread_join(before, NULL);
    pthread_join(after, NULL);
    printf("%d\n", unguarded);
    return 0;
}
