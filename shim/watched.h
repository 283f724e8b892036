/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions whose calls are watched (watched.def) and the instances of their wrappers: a fixed
 * number per function (arch/wrappers.inc). Which target an instance forwards to is data and lies
 * here. The shim's lock is held in all functions but watched_target_of.
 */
#pragma once

#define CALL_INSTANCES 8 /* per function */

/* struct instance */
#define INSTANCE_WAY 0
#define INSTANCE_ENTRY 8
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
#define WATCH(name, result, parameters, integers, doubles, first, last) ROW_##name,
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

/* The first two and the target are also read without the lock: changed atomically. */
struct instance {
    uintptr_t way;      /* where its wrapper goes on (arch/wrappers.inc): are its calls heeded? */
    uintptr_t entry;    /* what is called: the target, or shim_call_lazy */
    uintptr_t passed;   /* for that: what says which slot it is, */
    uintptr_t resolver; /* the loader's code that resolves it, */
    uintptr_t target;   /* 0: free */
    uintptr_t map;      /* and the host's link map */
    uintptr_t put_back; /* the lazy value that a tracer gave the slot again; 0: none did */
    unsigned char call; /* FRESH, ... */
    unsigned char failures; /* kinds of failure told */
    bool lazy;              /* the target is still the slot's PLT entry */
    short failure[FAILURE_KINDS];
    int64_t first_thread; /* that makes the first call */
    int64_t library;      /* object number of the target's, WC_NULL while lazy */
    int64_t host;         /* whose lazy slot it watches, else WC_NULL */
    uintptr_t slot;       /* that slot; 0: any slot of the target may lead here */
};
extern __attribute__((visibility("hidden"))) struct instance
    instances[ROWS][CALL_INSTANCES] __asm__("shim_instances");

/* What wrappers tell of a call, once one is handed out. The first returns how many words of
 * arguments lie on the stack; value: what is in the register of results, of a status its half. */
extern __attribute__((visibility("hidden"))) struct heeders {
    uintptr_t (*before)(struct instance *in, uintptr_t return_address);
    void (*after)(struct instance *in, uintptr_t return_address, uintptr_t value);
} shim_heeders;

/* NOT_WATCHED if the function has no row or its prototype is not known to hold for that major. */
int watched_row(const char *function, int major);
/* The wrapper of an instance, and the instance whose wrapper is at an address, NULL: none of ours
 * is. */
uintptr_t watched_wrapper_of(const struct instance *in);
struct instance *watched_instance_at(uintptr_t address);
/* Is it one of our wrappers? Then the function behind it, else 0. */
uintptr_t watched_target_of(uintptr_t address);
/* The instance that forwards to a target wherever it is called from; NULL: none does yet. */
struct instance *watched_instance_of(int row, uintptr_t target);
/* A free instance, which forwards to target from now on; told: its calls are not told any more.
 * NULL: none is left. */
struct instance *watched_take(int row, uintptr_t target, bool told);
/* The wrapper may be entered as soon as a slot leads to it. */
void watched_lead_to(struct instance *in, uintptr_t target, uintptr_t entry);
/* Are calls told of? */
void watched_heed(struct instance *in, bool heed);
bool watched_is_heeded(const struct instance *in);
int watched_row_of(const struct instance *in);
/* An object is gone: instances that forward into it, or watch its slots, are free again. */
void watched_forget(const struct object *o);
#endif
