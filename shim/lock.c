/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include <sys/mman.h>

#include "signals.h"
#include "sys.h"

/* Process whose thread holds it, 0: free. */
static int owner;
static bool inherited, broken; /* all three by __atomic_ builtins alone */

#define SPINS 200
#define NAP 50          /* microseconds */
#define NAPS_MOST 40000 /* two seconds */

/* ---- whose memory is this? ---- */

/* A page that the kernel wipes in a forked child, and that a child which shares our memory (vfork,
 * CLONE_VM) sees as it is. NULL: the kernel (before 4.14) cannot do that, or it is qemu-user, which
 * says yes to any advice and does nothing. */
#define NO_ADVICE (-1)
static int *mark;
static bool mark_tried;

static int *make_mark(int mine) {
    int *fresh = sys_map(sizeof *fresh), *none = NULL;
    bool wiped = fresh && sys_advise(fresh, sizeof *fresh, MADV_WIPEONFORK) == 0 &&
                 sys_advise(fresh, sizeof *fresh, NO_ADVICE) != 0;
    if (wiped)
        *fresh = mine;
    bool first = wiped && __atomic_compare_exchange_n(&mark, &none, fresh, false, __ATOMIC_ACQ_REL,
                                                      __ATOMIC_ACQUIRE);
    if (fresh && !first)
        sys_unmap(fresh, sizeof *fresh);
    __atomic_store_n(&mark_tried, true, __ATOMIC_RELEASE);
    return __atomic_load_n(&mark, __ATOMIC_ACQUIRE);
}

/* What a child does in memory that it shares with its parent would be done to the parent. */
static bool is_anothers_memory(int mine) {
    int *m = __atomic_load_n(&mark, __ATOMIC_ACQUIRE), wiped = 0;
    if (!m && !__atomic_load_n(&mark_tried, __ATOMIC_ACQUIRE))
        m = make_mark(mine);
    if (!m ||
        __atomic_compare_exchange_n(m, &wiped, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    return wiped != mine;
}

/* ---- the lock ---- */

static bool take_from(int expected, int mine) {
    signals_hold();
    bool taken = __atomic_compare_exchange_n(&owner, &expected, mine, false, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED);
    if (!taken)
        signals_release();
    return taken;
}

static bool is_broken(void) {
    return __atomic_load_n(&broken, __ATOMIC_RELAXED);
}

bool lock_take(void) {
    int mine = sys_getpid();
    if (mine <= 0 /* it is refused */ || is_anothers_memory(mine))
        return false;
    for (long i = 0; i < SPINS + NAPS_MOST && !is_broken(); i++) {
        int seen = __atomic_load_n(&owner, __ATOMIC_RELAXED);
        if (seen == 0) {
            if (take_from(0, mine))
                return true;
        } else if (seen != mine && take_from(seen, mine)) {
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
    signals_release();
}

int lock_holder(void) {
    return __atomic_load_n(&owner, __ATOMIC_RELAXED);
}

bool lock_was_inherited(void) {
    return __atomic_exchange_n(&inherited, false, __ATOMIC_RELAXED);
}
