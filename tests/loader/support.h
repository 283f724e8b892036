/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs share. Each prints what it saw, the same with and without a preloaded library;
 * COUNTS in the environment adds how the calls arrived at cuDNN.
 */
#ifndef LOADER_SUPPORT_H
#define LOADER_SUPPORT_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef long run_function(void);

static inline void *need(void *p, const char *what) {
    if (p)
        return p;
    fprintf(stderr, "%s: %s\n", what, dlerror());
    exit(1);
}

static inline void *open_library(const char *name) {
    return need(dlopen(name, RTLD_LAZY | RTLD_LOCAL), name);
}

static inline run_function *runner(void *library) {
    return (run_function *)need(dlsym(library, "host_run"), "host_run");
}

static inline pthread_t start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        abort();
    return thread;
}

static inline void wait_for(atomic_int *flag) {
    while (!*flag)
        usleep(1000);
}

/* How calls arrived, since this was last told, at the cuDNN that the handle (or RTLD_DEFAULT)
 * finds. */
static inline void tell_counts(void *library) {
    static unsigned long watched_before, direct_before;
    unsigned long watched = 0, direct = 0;
    if (!getenv("COUNTS"))
        return;
    void (*arrived)(unsigned long *, unsigned long *) =
        (void (*)(unsigned long *, unsigned long *))dlsym(library, "calls_arrived");
    if (arrived)
        arrived(&watched, &direct);
    printf("watched %lu direct %lu\n", watched - watched_before, direct - direct_before);
    watched_before = watched;
    direct_before = direct;
}

#endif
