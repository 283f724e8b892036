/* SPDX-License-Identifier: Apache-2.0 */
#include "locked.h"

#include <dlfcn.h>

#include "next.h"
#include "signals.h"
#include "thread.h"

#define NAME "whichcudnn_walk"

typedef void resolved(void);

static void nothing(void) {}

/* Of two copies of the shim dlsym finds the first, whatever copy asks. */
static void pass_on(void) {
    resolved *(*resolver)(void) = (void *)next_resolver(NAME);
    if (resolver)
        resolver();
}

/* Signals are held from here on, not before: a thread that waits for the loader's lock must stay
 * interruptible. */
static __attribute__((used)) resolved *under_the_lock(void) {
    if (!next_are_we_relocated())
        return nothing;
    struct thread_job job = this_thread.job;
    if (!job.run) {
        pass_on();
        return nothing;
    }
    this_thread.job.run = NULL;
    signals_hold();
    job.run(job.argument);
    signals_release();
    return nothing;
}

/* Nobody refers to it, so that its resolver runs when we ask for it and never else. */
__attribute__((ifunc("under_the_lock"), visibility("default"))) void whichcudnn_walk(void);

bool locked_run(void (*job)(void *), void *argument) {
    void *(*look_up)(void *, const char *) = (void *)next_of_libc(ENTRY_DLSYM);
    if (!look_up)
        return false;
    this_thread.job = (struct thread_job){job, argument};
    look_up(RTLD_DEFAULT, NAME);
    bool ran = !this_thread.job.run;
    this_thread.job.run = NULL;
    return ran;
}
