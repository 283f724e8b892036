/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping the host's signal handlers out for a while: one that interrupts us might never come back
 * (siglongjmp), or wait for a lock of the loader that another thread holds while it waits for ours.
 * Holds nest and may cross: the first of a thread asks the kernel, the last to be released undoes
 * it.
 */
#pragma once

#include <signal.h>

#include "sys.h"
#include "thread.h"

/* What our own code could raise, and what a sandbox raises, stays open: the process ends, or goes
 * on, as the host has arranged. */
static inline void signals_hold(void) {
    uint64_t all = ~(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) |
                     SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS));
    uint64_t mask = 0;
    if (this_thread.holds == 0) /* a handler that comes now leaves it at 0 again */
        this_thread.held = sys_signal_mask(0 /* SIG_BLOCK */, &all, &mask) == 0;
    if (this_thread.holds++ == 0)
        this_thread.host_mask = mask;
}

static inline void signals_release(void) {
    if (--this_thread.holds == 0 && this_thread.held)
        sys_signal_mask(2 /* SIG_SETMASK */, &this_thread.host_mask, NULL);
}
