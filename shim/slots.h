/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots through which hosts call cuDNN: what the loader put there is the binding. The shim's
 * lock is held in all functions; that marked (callback) while the loader's list is walked.
 */
#pragma once

#include "whichcudnn/record.h"
#include <stdbool.h>
#include <stddef.h>

struct object;

enum slot_kind { SLOT_JUMP, SLOT_ADDRESS, SLOT_TABLE };
/* One slot of a host that a listed function is bound through. */
struct slot {
    int function; /* index of the symbol table (core/names/symbols.h) */
    enum slot_kind kind;
    bool defined; /* the host itself defines the function */
    bool only;    /* there is no SLOT_JUMP for this function in this host */
    uintptr_t address;
    size_t number; /* SLOT_JUMP: of its relocation in DT_JMPREL */
    /* SLOT: bound to `target`, an address outside of the host; LAZY: it still leads into the host's
     * PLT; UNDEFINED: 0, a weak import that found nothing; UNKNOWN: not read. */
    enum wc_binding_how how;
    uintptr_t target;     /* what it is bound to, wrappers looked through */
    bool through_program; /* by way of the program's PLT, so that the program's slot says it */
    bool told, wrapped;
};

/* Finds and reads the slots of a mapped host. (callback) */
void slots_read(struct object *host);
/* Writes binding records for what changed since. */
void slots_emit(struct object *host);
/* A lazy slot got its target. */
void slots_emit_resolved(const struct object *host, const struct object *library,
                         const char *function);
/* dlsym gave the host a function of the library. */
void slots_emit_lookup(const struct object *host, const struct object *library,
                       const char *function, bool wrapped);
