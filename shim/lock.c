#include "lock.h"

#include <stdint.h>

#include "sys.h"

/* pid << 32 | tid of the owner, 0: free. */
static uint64_t owner;
static bool inherited, broken; /* all three by __atomic_ builtins alone */

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

static bool is_broken(void) {
    return __atomic_load_n(&broken, __ATOMIC_RELAXED);
}

bool lock_take(void) {
    uint64_t mine = self();
    if (take_from(0, mine))
        return true;
    for (long i = 0; i < SPINS + NAPS_MOST && !is_broken(); i++) {
        uint64_t seen = __atomic_load_n(&owner, __ATOMIC_RELAXED);
        if (seen == 0) {
            if (take_from(0, mine))
                return true;
        } else if (seen >> 32 != mine >> 32 && take_from(seen, mine)) {
            __atomic_store_n(&inherited, true, __ATOMIC_RELAXED);
            return true;
        }
        if (i < SPINS)
            arch_relax();
        else
            sys_sleep_microseconds(NAP);
    }
    __atomic_store_n(&broken, true, __ATOMIC_RELAXED);
    return false;
}

void lock_release(void) {
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
}

bool lock_was_inherited(void) {
    return __atomic_exchange_n(&inherited, false, __ATOMIC_RELAXED);
}
