/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions whose calls are watched (watched.def) and the instances of their wrappers: a fixed
 * number per function, made by the compiler (calls.c). Which target an instance forwards to is data
 * and lies here. The shim's lock is held in all functions but watched_target_of.
 */
#pragma once

#define CALL_INSTANCES 8 /* per function */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

struct object;

enum row {
#define WATCH(name, result, parameters, arguments, first, last) ROW_##name,
#include "watched.def"
    ROWS
};
#define NOT_WATCHED (-1)

enum result { STATUS, VERSION, TEXT, NOTHING };
extern __attribute__((visibility("hidden"))) const struct watched {
    char name[56];
    unsigned char result, first_major, last_major;
} watched[ROWS];

enum { FRESH, FIRST_CALL_UNDERWAY, SEEN };
#define FAILURE_KINDS 4

/* The first four are also read without the lock: changed atomically. */
struct instance {
    uintptr_t fast;     /* the entry; 0: calls are heeded, the first is not over or the slot lazy */
    uintptr_t entry;    /* what the wrapper calls: the target, or what leads to a lazy one */
    uintptr_t target;   /* 0: free */
    uintptr_t wrapper;  /* its address, 0: it was never handed out */
    unsigned char call; /* FRESH, ... */
    unsigned char failures; /* kinds of failure told */
    short failure[FAILURE_KINDS];
    int64_t first_thread; /* that makes the first call */
    int64_t library;      /* object number of the target's, WC_NULL while lazy */
    int64_t host;         /* whose lazy slot it watches, else WC_NULL */
    uintptr_t slot;       /* that slot; 0: any slot of the target may lead here */
    bool lazy;            /* the target is still the slot's PLT entry */
};
extern __attribute__((visibility("hidden"))) struct instance
    instances[ROWS][CALL_INSTANCES] __asm__("shim_instances");

/* NOT_WATCHED if the function has no row or its prototype is not known to hold for that major. */
int watched_row(const char *function, int major);
/* The instance whose wrapper is at an address, NULL: none of ours is. */
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
/* Are calls to take the slow way, which heeds them? */
void watched_heed(struct instance *in, bool heed);
/* An object is gone: instances that forward into it, or watch its slots, are free again. */
void watched_forget(const struct object *o);
#endif
