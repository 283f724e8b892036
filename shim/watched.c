/* SPDX-License-Identifier: Apache-2.0 */
#include "watched.h"

#include "answers.h"
#include "arch.h"
#include "journal.h"
#include "objects.h"
#include "start.h"

#define WORDS(integers) ((integers) > ARCH_CALL_REGISTERS ? (integers)-ARCH_CALL_REGISTERS : 0)
#define BIT(words) | 1U << (words)
#define WATCH(name, result, integers, doubles, first, last)                                        \
    _Static_assert((1U ARCH_CALL_WORDS(BIT)) >> WORDS(integers) & 1, "ARCH_CALL_WORDS: " #name);   \
    _Static_assert(result == STATUS || WORDS(integers) == 0, "arch/wrappers.inc: " #name);         \
    _Static_assert((doubles) <= 8, "in registers");
#include "watched.def"

const struct watched watched[ROWS] = {
#define WATCH(name, result, integers, doubles, first, last)                                        \
    {#name, result, first, last, WORDS(integers)},
#include "watched.def"
};

_Static_assert(offsetof(struct instance, entry) == INSTANCE_ENTRY &&
                   offsetof(struct instance, next) == INSTANCE_NEXT &&
                   offsetof(struct instance, passed) == INSTANCE_PASSED &&
                   offsetof(struct instance, resolver) == INSTANCE_RESOLVER &&
                   offsetof(struct instance, target) == INSTANCE_TARGET &&
                   offsetof(struct instance, map) == INSTANCE_MAP &&
                   sizeof(struct instance) == INSTANCE_SIZE,
               "arch/wrappers.inc");

/* Code of arch/wrappers.inc. */
extern HIDDEN const char shim_wrappers[], shim_call_heeded[];

int watched_row_of(const struct instance *in) {
    return (int)((in - instances[0]) / CALL_INSTANCES);
}

uintptr_t watched_wrapper_of(const struct instance *in) {
    return (uintptr_t)shim_wrappers + (size_t)(in - instances[0]) * ARCH_WRAPPER_SIZE;
}

int watched_row(const char *function, int major) {
    for (int row = 0; row < ROWS; row++)
        if (wc_str_compare(watched[row].name, function) == 0)
            return major >= watched[row].first_major && major <= watched[row].last_major
                       ? row
                       : NOT_WATCHED;
    return NOT_WATCHED;
}

struct instance *watched_instance_at(uintptr_t address) {
    size_t distance = address - (uintptr_t)shim_wrappers;
    size_t n = distance / ARCH_WRAPPER_SIZE;
    bool is_one = n < (size_t)ROWS * CALL_INSTANCES && distance % ARCH_WRAPPER_SIZE == 0;
    return is_one ? &instances[n / CALL_INSTANCES][n % CALL_INSTANCES] : NULL;
}

uintptr_t watched_target_of(uintptr_t address) {
    const struct instance *in = watched_instance_at(address);
    return in ? __atomic_load_n(&in->target, __ATOMIC_RELAXED) : 0;
}

struct instance *watched_instance_of(int row, uintptr_t slot, uintptr_t target) {
    for (unsigned k = 0; k < CALL_INSTANCES; k++) {
        struct instance *in = &instances[row][k];
        if (in->slot == slot && (slot ? in->target != 0 : in->target == target))
            return in;
    }
    return NULL;
}

void watched_heed(struct instance *in, bool heed) {
    __atomic_store_n(&in->entry, heed ? (uintptr_t)shim_call_heeded : in->next, __ATOMIC_RELEASE);
}

bool watched_is_heeded(const struct instance *in) {
    return __atomic_load_n(&in->entry, __ATOMIC_ACQUIRE) == (uintptr_t)shim_call_heeded;
}

/* What is called is written last: it makes the target valid. */
void watched_lead_to(struct instance *in, uintptr_t target, uintptr_t next) {
    __atomic_store_n(&in->target, target, __ATOMIC_RELAXED);
    __atomic_store_n(&in->next, next, __ATOMIC_RELEASE);
    watched_heed(in, watched_is_heeded(in));
}

struct instance *watched_take(int row, uintptr_t target, bool recorded) {
    for (unsigned k = 0; k < CALL_INSTANCES; k++) {
        struct instance *in = &instances[row][k];
        if (in->target)
            continue;
        in->call = recorded ? SEEN : FRESH;
        in->failures = recorded ? FAILURE_KINDS : 0;
        in->lazy = false;
        in->slot = 0;
        in->library = in->host = WC_NULL;
        watched_lead_to(in, target, target);
        watched_heed(in, !recorded);
        return in;
    }
    journal_unobserved(watched[row].name, "no wrapper instance is left for another target", NULL);
    return NULL;
}

void watched_forget(const struct object *o) {
    answers_forget();
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned k = 0; k < CALL_INSTANCES; k++) {
            struct instance *in = &instances[row][k];
            bool into = in->library == o->l.number || (in->slot && in->host == o->l.number);
            if (in->target && into)
                __atomic_store_n(&in->target, 0, __ATOMIC_RELEASE);
        }
}
