/* SPDX-License-Identifier: Apache-2.0 */
#include "repeats.h"

#include "core/base/hash.h"
#include "journal.h"

#define COUNTED_MOST 4096
static struct counted {
    uint64_t what; /* a hash, 0: free */
    unsigned char recorded;
} counted[COUNTED_MOST];
static unsigned counted_in_all;

uint64_t repeats_hash(enum wc_operation operation, const char *name, int flags,
                      int64_t caller_object) {
    uint64_t hash = wc_hash_word(wc_hash_text(WC_HASH_START, name), (uint64_t)flags);
    return wc_hash_word(wc_hash_word(hash, operation), (uint64_t)caller_object);
}

static struct counted *find_counted(uint64_t what) {
    size_t at = (what | 1) % COUNTED_MOST;
    while (counted[at].what && counted[at].what != (what | 1))
        at = (at + 1) % COUNTED_MOST;
    return &counted[at];
}

bool repeats_knows(uint64_t what) {
    return find_counted(what)->what;
}

bool repeats_leave_out(enum wc_kind kind, uint64_t what, bool matters) {
    struct counted *c = find_counted(what);
    const unsigned most = matters ? COUNTED_MOST / 4 * 3 : COUNTED_MOST / 2;
    if (c->what ? c->recorded == REPEATS_RECORDED : counted_in_all >= most) {
        journal_leave_out(kind, 1);
        return true;
    }
    counted_in_all += !c->what;
    c->what = what | 1;
    c->recorded++;
    return false;
}
