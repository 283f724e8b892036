/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks the host's signal handlers for a while: a handler that interrupts us might never return
 * (siglongjmp), or wait for a lock of the loader whose owner waits for ours. Holds of a thread are
 * counted: the first one blocks the signals, the release of the last one unblocks them.
 */
#pragma once

#include <signal.h>

#include "sys.h"
#include "thread.h"

/* Signals that our own code or a sandbox could raise are not blocked: the host's handlers decide.
 */
static inline void signals_hold(void) {
    uint64_t all = ~(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) |
                     SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS));
    uint64_t mask = 0;
    if (this_thread.holds == 0) /* a handler that runs between here and holds++ leaves it at 0 */
        this_thread.held = sys_signal_mask(0 /* SIG_BLOCK */, &all, &mask) == 0;
    if (this_thread.holds++ == 0)
        this_thread.host_mask = mask;
}

static inline void signals_release(void) {
    if (--this_thread.holds == 0 && this_thread.held)
        sys_signal_mask(2 /* SIG_SETMASK */, &this_thread.host_mask, NULL);
}
