/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "answers.h"
#include "journal.h"
#include "lock.h"
#include "memory.h"
#include "objects.h"
#include "packages.h"
#include "searches.h"

static uint64_t epoch = 1;

bool state_take(void) {
    if (!lock_take())
        return false;
    if (lock_was_inherited()) {
        answers_forget();
        memory_forget();
        journal_forget();
        objects_forget();
        packages_forget();
        searches_forget();
        epoch++;
    }
    return true;
}

void state_leave(void) {
    lock_release();
}

uint64_t state_epoch(void) {
    return epoch;
}
