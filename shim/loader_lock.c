/* SPDX-License-Identifier: Apache-2.0 */
#include "loader_lock.h"

#include <dlfcn.h>

#include "next.h"
#include "signals.h"
#include "thread.h"

#define NAME "whichcudnn_walk"

typedef void resolved(void);

static void nothing(void) {}

/* The IFUNC resolver. It holds signals only from here on: a thread that still waits for the
 * loader's lock must stay interruptible. */
static __attribute__((used)) resolved *under_the_lock(void) {
    if (!next_are_we_relocated())
        return nothing;
    struct thread_job job = this_thread.job;
    if (!job.run) { /* if the shim is loaded twice, dlsym finds the first copy's symbol */
        resolved *(*resolver)(void) = (void *)next_resolver(NAME);
        return resolver ? resolver() : nothing;
    }
    this_thread.job.run = NULL;
    signals_hold();
    job.run(job.argument);
    signals_release();
    return nothing;
}

/* No object imports it, so its resolver runs only when loader_lock_run looks it up. */
__attribute__((ifunc("under_the_lock"), visibility("default"))) void whichcudnn_walk(void);

bool loader_lock_run(void (*job)(void *), void *argument) {
    void *(*look_up)(void *, const char *) = (void *)next_of_libc(ENTRY_DLSYM);
    if (!look_up)
        return false;
    this_thread.job = (struct thread_job){job, argument};
    look_up(RTLD_DEFAULT, NAME);
    bool ran = !this_thread.job.run;
    this_thread.job.run = NULL;
    return ran;
}
