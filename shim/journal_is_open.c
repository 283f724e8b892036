/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"
#include "self.h"

unsigned journal_open_for;

bool journal_is_open(void) {
    unsigned process = __atomic_load_n(&journal_open_for, __ATOMIC_RELAXED);
    return process && process == self_process();
}
