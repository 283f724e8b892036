#include "lock.h"

#include <stdint.h>

#include "sys.h"

/* pid << 32 | tid of the owner, 0: free. */
static _Atomic uint64_t owner;
static _Atomic bool inherited, broken;

#define SPINS 200
#define NAP 50          /* microseconds */
#define NAPS_MOST 40000 /* two seconds */

static uint64_t self(void) {
    return (uint64_t)(uint32_t)sys_getpid() << 32 | (uint32_t)sys_gettid();
}

static bool take_from(uint64_t expected, uint64_t mine) {
    return __atomic_compare_exchange_n(&owner, &expected, mine, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

bool lock_take(void) {
    uint64_t mine = self();
    if (take_from(0, mine))
        return true;
    for (long i = 0; i < SPINS + NAPS_MOST && !broken; i++) {
        uint64_t seen = owner;
        if (seen == 0) {
            if (take_from(0, mine))
                return true;
        } else if (seen >> 32 != mine >> 32 && take_from(seen, mine)) {
            inherited = true;
            return true;
        }
        if (i < SPINS)
            arch_relax();
        else
            sys_sleep_microseconds(NAP);
    }
    broken = true;
    return false;
}

void lock_release(void) {
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
}

bool lock_was_inherited(void) {
    return __atomic_exchange_n(&inherited, false, __ATOMIC_RELAXED);
}
