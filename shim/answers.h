/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of dlsym for cuDNN functions. A repeated lookup returns the same result without a
 * lock, because its binding is recorded. Some hosts look a function up before each call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object;

struct answer_key {
    const struct object *caller;
    uintptr_t value; /* what the loader found */
    uint64_t name;   /* its hash: two functions may share their code */
};

static inline uint64_t answers_hash(const char *name) { /* FNV-1a of what follows "cudnn" */
    uint64_t hash = 0xcbf29ce484222325;
    for (name += sizeof "cudnn" - 1; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
    return hash;
}

/* Needs no lock. False: there is no result, or it is outdated. */
bool answers_find(const struct answer_key *key, uintptr_t *answer);
/* These two need the shim's lock. */
void answers_note(const struct answer_key *key, uintptr_t answer);
/* Drops all results: a library was unloaded, or the tables were cleared. */
void answers_forget(void);
