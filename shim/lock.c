/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include "self.h"
#include "signals.h"
#include "sys.h"

/* Process (self.h) whose thread holds it, 0: free. */
static unsigned owner;
static bool inherited, broken; /* all three are accessed only by __atomic_ builtins */

static bool take_from(unsigned expected, unsigned mine) {
    signals_hold();
    bool taken = __atomic_compare_exchange_n(&owner, &expected, mine, false, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED);
    if (!taken)
        signals_release();
    return taken;
}

bool lock_take(void) {
    if (!self_enter())
        return false;
    unsigned mine = self_process();
    for (long i = 0; i < SYS_WAITS && !__atomic_load_n(&broken, __ATOMIC_RELAXED); i++) {
        unsigned seen = __atomic_load_n(&owner, __ATOMIC_RELAXED);
        if (seen == 0) {
            if (take_from(0, mine))
                return true;
        } else if (seen != mine && take_from(seen, mine)) {
            __atomic_store_n(&inherited, true, __ATOMIC_RELAXED);
            return true;
        }
        sys_wait(i);
    }
    __atomic_store_n(&broken, true, __ATOMIC_RELAXED);
    return false;
}

void lock_release(void) {
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
    signals_release();
}

bool lock_was_inherited(void) {
    return __atomic_exchange_n(&inherited, false, __ATOMIC_RELAXED);
}
