/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses the loader in the middle of relocating whoever calls slow_function: its resolver sleeps,
 * or with ASKS makes a dl* call.
 */
#include "slow.h"

#include <dlfcn.h>
#include <unistd.h>

atomic_int slow_entered;
atomic_int slow_milliseconds = 300;

static int seven(void) {
    return 7;
}

static int (*choose(void))(void) {
    slow_entered = 1;
#ifdef ASKS
    if (!dlsym(RTLD_DEFAULT, "getpid"))
        return NULL;
#else
    usleep(1000 * (useconds_t)slow_milliseconds);
#endif
    return seven;
}

int slow_function(void) __attribute__((ifunc("choose")));
