/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "answers.h"
#include "journal.h"
#include "memory.h"
#include "objects.h"
#include "reader.h"
#include "searches.h"
#include "self.h"
#include "signals.h"
#include "sys.h"

/* Process (self.h) whose thread holds it, 0: free. */
static unsigned owner;
static bool inherited, broken; /* all three are accessed only by __atomic_ builtins */
static uint64_t epoch = 1;

static bool take_from(unsigned expected, unsigned mine) {
    signals_hold();
    bool taken = __atomic_compare_exchange_n(&owner, &expected, mine, false, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED);
    if (!taken)
        signals_release();
    return taken;
}

static bool lock_take(void) {
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

bool state_take(void) {
    if (!lock_take())
        return false;
    if (__atomic_exchange_n(&inherited, false, __ATOMIC_RELAXED)) {
        answers_forget();
        memory_forget();
        journal_forget();
        objects_forget();
        reader_forget();
        searches_forget();
        epoch++;
    }
    return true;
}

void state_leave(void) {
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
    signals_release();
}

uint64_t state_epoch(void) {
    return epoch;
}
