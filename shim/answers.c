/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include "core/base/hash.h"

#define ANSWERS_KEPT 512 /* a power of 2 */

/* A newer key replaces an older one with the same place. Readers take no lock: `change` shows them
 * that a writer came between. */
static struct place {
    unsigned change; /* odd while it is being changed */
    unsigned age;    /* valid only if it is the current one */
    const struct object *caller;
    uintptr_t value, answer;
    uint64_t name;
} places[ANSWERS_KEPT];
static unsigned age = 1;

static struct place *place_of(const struct answer_key *key) {
    uint64_t hash = wc_hash_word(wc_hash_word(key->name, (uintptr_t)key->caller), key->value);
    return &places[(hash >> 32) % ANSWERS_KEPT];
}

#define READ(member) __atomic_load_n(&p->member, __ATOMIC_RELAXED)
#define WRITE(member, to) __atomic_store_n(&p->member, to, __ATOMIC_RELAXED)

bool answers_find(const struct answer_key *key, uintptr_t *answer) {
    const struct place *p = place_of(key);
    unsigned change = __atomic_load_n(&p->change, __ATOMIC_ACQUIRE);
    bool same = READ(caller) == key->caller && READ(value) == key->value &&
                READ(name) == key->name && READ(age) == __atomic_load_n(&age, __ATOMIC_ACQUIRE);
    uintptr_t found = READ(answer);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!same || change % 2 != 0 || READ(change) != change)
        return false;
    *answer = found;
    return true;
}

void answers_note(const struct answer_key *key, uintptr_t answer) {
    struct place *p = place_of(key);
    unsigned change = READ(change) | 1; /* a thread of the parent may have been changing it */
    WRITE(change, change);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    WRITE(caller, key->caller);
    WRITE(value, key->value);
    WRITE(name, key->name);
    WRITE(age, age);
    WRITE(answer, answer);
    __atomic_store_n(&p->change, change + 1, __ATOMIC_RELEASE);
}

void answers_forget(void) {
    __atomic_store_n(&age, age + 1, __ATOMIC_RELEASE);
}
