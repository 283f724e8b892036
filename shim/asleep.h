/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's two states (docs/design.md, "Asleep and awake"). It sleeps until a name matters: one
 * that is asked for, or of an object on the loader's list, or in the loader's words. What runs
 * before that is in asleep.c, start.c, core/names/hints.c and entry.S: it makes one system call,
 * takes no lock, and needs no pointer in a table, for those are relocated when it wakes. Included
 * by assembly, too.
 */
#pragma once

#define SHIM_ASLEEP 0
#define SHIM_AWAKE 1
#define SHIM_OFF 2    /* forwards for ever */
#define SHIM_WAKING 3 /* one thread is about it; the others wait a little */

#ifndef __ASSEMBLER__
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "entry.h"
#include "requests.h"

/* The last request of a thread, whose name did not matter: what it brings, or the loader's words on
 * it, may. */
struct asleep_request {
    uint64_t number; /* of those of all threads: a place serves again */
    unsigned entry;
    int flags;
    uintptr_t return_address;
    bool cut;
    char name[REQUEST_NAME];
};

extern __attribute__((visibility("hidden"))) int shim_state;
#endif
