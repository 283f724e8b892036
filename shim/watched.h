/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watched functions (watched.def) and the instances of their wrappers. A wrapper is a few
 * instructions (arch/wrappers.inc), of which there are CALL_INSTANCES for each function; its
 * instance is its data, such as the target that it forwards to. "Heeded" is a wrapper that calls
 * into C before and after the call; others only look at the returned status. The shim's lock is
 * held in all functions but watched_target_of.
 */
#pragma once

#define CALL_INSTANCES 8 /* per function */

/* Offsets in struct instance, for assembly. */
#define INSTANCE_ENTRY 0
#define INSTANCE_NEXT 8
#define INSTANCE_PASSED 16
#define INSTANCE_RESOLVER 24
#define INSTANCE_TARGET 32
#define INSTANCE_MAP 40
#define INSTANCE_SIZE 104

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

struct object;

enum row {
#define WATCH(name, result, integers, doubles, first, last) ROW_##name,
#include "watched.def"
    ROWS
};
#define NOT_WATCHED (-1)

enum result { STATUS, VERSION, TEXT, NOTHING };
extern __attribute__((visibility("hidden"))) const struct watched {
    char name[52];
    unsigned char result, first_major, last_major;
    unsigned char words; /* of arguments that lie on the stack */
} watched[ROWS];

enum { FRESH, FIRST_CALL_UNDERWAY, SEEN };
#define FAILURE_KINDS 4

/* entry, next and target are read without the lock, so they are changed atomically. */
struct instance {
    uintptr_t entry;              /* what the wrapper calls: shim_call_heeded, or next */
    uintptr_t next;               /* what is called then: the target, or shim_call_lazy */
    uintptr_t passed;             /* for shim_call_lazy: the slot's number for the resolver */
    uintptr_t resolver;           /* for shim_call_lazy: the loader's resolver */
    uintptr_t target;             /* 0: the instance is free */
    uintptr_t map;                /* for shim_call_lazy: the host's link map */
    uintptr_t put_back;           /* lazy value that a tracer wrote back into the slot; 0: none */
    unsigned char call;           /* FRESH, ...: of the first call */
    unsigned char failures;       /* number of recorded kinds of failure */
    bool lazy;                    /* the target is still the slot's PLT entry */
    short failure[FAILURE_KINDS]; /* the statuses that were recorded */
    int64_t first_thread;         /* the thread that makes the first call */
    int64_t library;              /* object number of the target's library; WC_NULL while lazy */
    int64_t host;                 /* object number of the host of a lazy slot; else WC_NULL */
    uintptr_t slot;               /* that lazy slot; 0: any slot with this target may lead here */
};
extern __attribute__((visibility("hidden"))) struct instance
    instances[ROWS][CALL_INSTANCES] __asm__("shim_instances");

/* The C functions that wrappers call; set when the first wrapper is used. before() returns how many
 * words of arguments lie on the stack. frame: of shim_call_heeded (ARCH_RETURN_ADDRESS). value: the
 * result register; a status is its lower half. */
extern __attribute__((visibility("hidden"))) struct heeders {
    uintptr_t (*before)(struct instance *in, const uintptr_t *frame);
    void (*after)(struct instance *in, const uintptr_t *frame, uintptr_t value);
    void (*failed)(struct instance *in, uintptr_t return_address, uintptr_t value);
} shim_heeders;

/* NOT_WATCHED if the function has no row or its prototype is not known to hold for that major. */
int watched_row(const char *function, int major);
/* The wrapper of an instance, and the instance of the wrapper at an address; NULL: there is none.
 */
uintptr_t watched_wrapper_of(const struct instance *in);
struct instance *watched_instance_at(uintptr_t address);
/* The function that the wrapper at an address forwards to; 0: it is none of our wrappers. */
uintptr_t watched_target_of(uintptr_t address);
/* The instance for this lazy slot; 0: with this target, and not for a slot. NULL: none yet. */
struct instance *watched_instance_of(int row, uintptr_t slot, uintptr_t target);
/* Takes a free instance for a target. recorded: calls and failures are not recorded any more. NULL:
 * none is left. */
struct instance *watched_take(int row, uintptr_t target, bool recorded);
/* Sets where the wrapper leads: a thread may be entering it. */
void watched_lead_to(struct instance *in, uintptr_t target, uintptr_t next);
/* Is each call passed to shim_heeders? */
void watched_heed(struct instance *in, bool heed);
bool watched_is_heeded(const struct instance *in);
int watched_row_of(const struct instance *in);
/* Frees the instances that forward into an unloaded object, or are for its slots. */
void watched_forget(const struct object *o);
#endif
