/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's states (shim/README.md, "Asleep and awake"). It sleeps until a name matters: that of a
 * request, of an object on the loader's list, or in the loader's message. The code that runs before
 * that is in asleep.c, start.c, core/names/hints.c and entry.S. It makes one system call, takes no
 * lock, and reads no table with pointers, because these are relocated when the shim wakes. Included
 * by assembly, too.
 */
#pragma once

#define SHIM_ASLEEP 0
#define SHIM_AWAKE 1
#define SHIM_OFF 2    /* only forwards, for ever */
#define SHIM_WAKING 3 /* one thread is waking it; other threads wait for that */

#ifndef __ASSEMBLER__
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "entry.h"
#include "requests.h"

/* The last request of a thread, whose name did not matter. The names of the objects that it loads,
 * or a name in the loader's message about it, may. */
struct asleep_request {
    uint64_t number; /* of this request: another thread may reuse the entry */
    unsigned entry;
    int flags;
    uintptr_t return_address;
    bool cut;
    char name[REQUEST_NAME];
};

extern __attribute__((visibility("hidden"))) int shim_state;
#endif
