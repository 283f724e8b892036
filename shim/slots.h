/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots (GOT entries) through which hosts call cuDNN: the address that the loader put there is
 * the binding. The shim's lock is held in all functions. The function marked (callback) is called
 * while rescan.c walks the loader's list.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "whichcudnn/record.h"

struct object;

/* JUMP_SLOT, GLOB_DAT, and an absolute address in a table of function pointers. */
enum slot_kind { SLOT_JUMP, SLOT_ADDRESS, SLOT_TABLE };
/* One slot of a host that a listed function is bound through. */
struct slot {
    int function; /* index of the symbol table (core/names/symbols.h) */
    enum slot_kind kind;
    bool defined; /* the host itself defines the function */
    bool only;    /* there is no SLOT_JUMP for this function in this host */
    uintptr_t address;
    size_t number; /* SLOT_JUMP: of its relocation in DT_JMPREL */
    /* SLOT: bound to `target`, outside of the host; LAZY: it still leads into the host's PLT;
     * UNDEFINED: 0, a weak import that was not found; UNKNOWN: not read. */
    enum wc_binding_how how;
    uintptr_t target;       /* the function that it is bound to; not a wrapper */
    bool through_program;   /* points to the program's PLT: how and target are its slot's
                             */
    bool recorded, wrapped; /* its record is written; it points to a wrapper */
};

/* Finds and reads the slots of a mapped host. (callback) */
void slots_read(struct object *host);
/* Writes binding records for slots that changed. */
void slots_emit(struct object *host);
/* Writes the binding of a lazy slot that got its target, in this host and others. */
void slots_emit_resolved(const struct object *host, const struct object *library,
                         const char *function);
/* Writes the binding of a function that dlsym returned to the host. */
void slots_emit_lookup(const struct object *host, const struct object *library,
                       const char *function, bool wrapped);
