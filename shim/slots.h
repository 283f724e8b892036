/*
 * The slots through which hosts call cuDNN: what the loader put there is the binding; watched ones
 * are rewritten to wrappers. The shim's lock is held in all functions.
 */
#ifndef SHIM_SLOTS_H
#define SHIM_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object;

enum slot_kind { SLOT_JUMP, SLOT_ADDRESS, SLOT_TABLE };
enum slot_state {
    SLOT_UNREAD,
    SLOT_BOUND,     /* to `target`, an address outside of the host */
    SLOT_LAZY,      /* still leads into the host's PLT */
    SLOT_ITSELF,    /* to the host's own definition */
    SLOT_UNDEFINED, /* 0: a weak import that found nothing */
};

/* One slot of a host that a listed function is bound through. */
struct slot {
    int function; /* index of the symbol table (core/model/symbols.h) */
    enum slot_kind kind;
    bool defined; /* the host itself defines the function */
    bool only;    /* there is no SLOT_JUMP for this function in this host */
    uintptr_t address;
    enum slot_state state;
    uintptr_t target;     /* what it is bound to, wrappers looked through */
    bool through_program; /* by way of the program's PLT, so that the program's slot says it */
    bool told, wrapped;
};

/* Is the loader still at it? Its pages that are read-only after relocation are writable until then.
 * An indirect function's resolver may call us from there, in the thread that holds the loader's
 * lock, which so waits for nothing. */
bool slots_are_unfinished(const struct object *host);
/* Reads the slots of a mapped host and rewrites those of watched functions. Runs inside a
 * dl_iterate_phdr callback: the host stays mapped, everything listed is relocated. */
void slots_attend(struct object *host);
/* Writes binding records for what changed since. Outside of callbacks. */
void slots_emit(struct object *host);
/* A lazy slot got its target. */
void slots_emit_resolved(const struct object *host, const struct object *library,
                         const char *function);
/* dlsym gave the host a function of the library. */
void slots_emit_lookup(const struct object *host, const struct object *library,
                       const char *function, bool wrapped);

#endif
