/* SPDX-License-Identifier: Apache-2.0 */
#include "watched.h"

#include "answers.h"
#include "journal.h"
#include "objects.h"

const struct watched watched[ROWS] = {
#define WATCH(name, result, parameters, arguments, first, last) {#name, result, first, last},
#include "watched.def"
};

struct instance instances[ROWS][CALL_INSTANCES];

int watched_row(const char *function, int major) {
    for (int row = 0; row < ROWS; row++)
        if (wc_str_compare(watched[row].name, function) == 0)
            return major >= watched[row].first_major && major <= watched[row].last_major
                       ? row
                       : NOT_WATCHED;
    return NOT_WATCHED;
}

/* The first instances of a row are handed out first. */
struct instance *watched_instance_at(uintptr_t address) {
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned k = 0; k < CALL_INSTANCES; k++) {
            uintptr_t wrapper = __atomic_load_n(&instances[row][k].wrapper, __ATOMIC_RELAXED);
            if (!wrapper)
                break;
            if (wrapper == address)
                return &instances[row][k];
        }
    return NULL;
}

uintptr_t watched_target_of(uintptr_t address) {
    const struct instance *in = watched_instance_at(address);
    return in ? __atomic_load_n(&in->target, __ATOMIC_RELAXED) : 0;
}

struct instance *watched_instance_of(int row, uintptr_t target) {
    for (unsigned k = 0; k < CALL_INSTANCES; k++) {
        struct instance *in = &instances[row][k];
        if (!in->slot && in->target == target)
            return in;
    }
    return NULL;
}

void watched_heed(struct instance *in, bool heed) {
    __atomic_store_n(&in->fast, heed ? 0 : in->entry, __ATOMIC_RELEASE);
}

/* The entry comes last. */
void watched_lead_to(struct instance *in, uintptr_t target, uintptr_t entry) {
    __atomic_store_n(&in->target, target, __ATOMIC_RELAXED);
    __atomic_store_n(&in->entry, entry, __ATOMIC_RELEASE);
}

struct instance *watched_take(int row, uintptr_t target, bool told) {
    for (unsigned k = 0; k < CALL_INSTANCES; k++) {
        struct instance *in = &instances[row][k];
        if (in->target)
            continue;
        in->call = told ? SEEN : FRESH;
        in->failures = told ? FAILURE_KINDS : 0;
        in->lazy = false;
        in->slot = 0;
        in->library = in->host = WC_NULL;
        watched_lead_to(in, target, target);
        watched_heed(in, !told);
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
            bool into = in->library == o->number || (in->slot && in->host == o->number);
            if (in->target && into)
                __atomic_store_n(&in->target, 0, __ATOMIC_RELEASE);
        }
}
