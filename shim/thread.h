/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread remembers, and the guard that keeps the shim from observing itself. Initial-exec
 * thread-local storage: no call, no allocation, usable from the first hook on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How this thread may look at the loader's list. */
enum thread_walk {
    WALK_NEVER, /* dlerror has something to say, perhaps, which may not be lost */
    WALK_ASKS,  /* it is about to make a call that takes the loader's lock: as that does
                 * (loader_lock.h)
                 */
    WALK_HOLDS, /* it holds that lock, or is alone */
};

struct thread_job {
    void (*run)(void *);
    void *argument;
};

struct asleep_request;

struct thread {
    struct asleep_request *kept; /* asleep: the last dlopen; NULL: another dl call came since */
    uint64_t kept_number;
    unsigned tid_of; /* process (self.h) in which this is its number; 0: not asked yet */
    int tid;
    bool entered;     /* self_enter said yes within this hook */
    uintptr_t inside; /* frame of the hook that is active, 0: none. What that calls is passed on */
    enum thread_walk walk;
    struct thread_job job; /* for loader_lock.c's resolver */
    unsigned holds; /* of signals (signals.h); then whether the kernel did so, and what was */
    bool held;      /* blocked before */
    uint64_t host_mask;
    bool loads_since_rescan; /* a dlopen or dlclose of this thread went by */
    bool opened, closing;    /* which of them, as rescan.c has to know */
    uint64_t closes;         /* by all threads, when this one opened something */
    bool lookup_failed;      /* the last dl call was a dlsym of a cuDNN name that gave NULL */
    int64_t request;         /* last dlopen of this thread, 0: none or its end is known */
    int64_t lookup_caller;   /* return address of that dlsym */
    int64_t lookup_number;   /* of its failure, which is told; 0: it is not yet */
    const char *lookup_path; /* of the object that it is in, NULL: not known */
    char lookup[64];         /* the name */
};

extern __thread struct thread this_thread __attribute__((tls_model("initial-exec")));

/* The thread that was here first, and whether others were since; a forked child inherits both. */
extern struct thread *thread_first;
extern bool thread_others;

static inline void thread_note(void) {
    struct thread *first = __atomic_load_n(&thread_first, __ATOMIC_RELAXED);
    if (first == &this_thread || __atomic_load_n(&thread_others, __ATOMIC_RELAXED))
        return;
    if (first || !__atomic_compare_exchange_n(&thread_first, &first, &this_thread, false,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        __atomic_store_n(&thread_others, true, __ATOMIC_RELAXED);
}

/* False: already inside; do nothing but forward. A hook out of which the host jumped (a resolver
 * that leaves dlsym by longjmp) is not active any more: the stack has come back above its frame. */
static inline bool thread_enter(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (this_thread.inside && here < this_thread.inside)
        return false;
    if (this_thread.inside) /* what that hook was about to look at is still to be looked at */
        this_thread.loads_since_rescan = true;
    thread_note();
    this_thread.entered = false;
    this_thread.inside = here;
    __asm__ volatile("" ::: "memory"); /* a signal handler of this thread must see it */
    return true;
}

static inline void thread_leave(void) {
    __asm__ volatile("" ::: "memory");
    this_thread.inside = 0;
}
