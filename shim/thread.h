/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread-local data, and the guard that keeps the shim from observing itself. Initial-exec storage
 * needs no call and no allocation, and works from the first hook on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How this thread may look at the loader's list. */
enum thread_walk {
    WALK_NEVER, /* not at all: dlerror may have a message, which must not be lost */
    WALK_ASKS,  /* it is about to make a call that takes the loader's lock: as that does
                 * (loader_lock.h)
                 */
    WALK_HOLDS, /* freely: it holds that lock, or there is no other thread */
};

struct thread_job {
    void (*run)(void *);
    void *argument;
};

struct asleep_request;

struct thread {
    struct asleep_request *kept; /* asleep: the last dlopen; NULL: another dl call came since */
    uint64_t kept_number;
    unsigned tid_of; /* process (self.h) in which tid is valid; 0: not asked yet */
    int tid;
    bool entered;     /* self_enter returned true within this hook */
    uintptr_t inside; /* frame of the active hook, whose own dl calls are only forwarded; 0: none */
    enum thread_walk walk;
    struct thread_job job;   /* for loader_lock.c's resolver */
    unsigned holds;          /* nested holds of signals (signals.h) */
    bool held;               /* the kernel has blocked them */
    uint64_t host_mask;      /* signals that the host had blocked before */
    bool loads_since_rescan; /* this thread called dlopen or dlclose since the last look */
    bool opened, closing;    /* which of the two, for rescan.c */
    uint64_t closes;         /* number of dlcloses of all threads when this one opened something */
    bool lookup_failed;    /* the last dl call was a dlsym of a cuDNN function that returned NULL */
    int64_t request;       /* last dlopen of this thread; 0: none, or its result is known */
    int64_t lookup_caller; /* return address of the failed dlsym */
    int64_t lookup_number; /* request number of its record; 0: not written yet */
    const char *lookup_path; /* of the calling object; NULL: not known */
    char lookup[64];         /* name of the function */
};

extern __thread struct thread this_thread __attribute__((tls_model("initial-exec")));

/* The first thread that entered a hook, and whether others did since; a forked child inherits both.
 */
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

/* Enters a hook. False: this thread is inside one, so the caller only forwards. If the host has
 * left a hook by longjmp (an IFUNC resolver can), the stack is above its frame: that hook is over.
 */
static inline bool thread_enter(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (this_thread.inside && here < this_thread.inside)
        return false;
    if (this_thread.inside) /* that hook may not have read the list */
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
