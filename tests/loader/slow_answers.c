/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preload behind the shim whose dladdr takes its time in the thread that says so, after it has
 * the answer.
 */
#include "slow.h"
#include "support.h"

atomic_int answer_reached; /* the slow answer is under way */
/* Of the calling thread: its next dladdr is slow, until a relocation has begun (1), or not at all
 * and only told (2). */
__thread int slow_answer;

int dladdr(const void *address, Dl_info *info) {
    int (*next)(const void *, Dl_info *) =
        (int (*)(const void *, Dl_info *))dlsym(RTLD_NEXT, "dladdr");
    int result = next(address, info), how = slow_answer;
    slow_answer = 0;
    if (how)
        answer_reached = 1;
    if (how == 1)
        wait_for(&slow_entered);
    return result;
}
