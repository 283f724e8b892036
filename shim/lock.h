/*
 * The one lock of the shim, over its model, tables and log. Order: the loader's locks first, ours
 * last; whoever holds it makes no call that could take a lock of the loader.
 */
#ifndef SHIM_LOCK_H
#define SHIM_LOCK_H

#include <stdbool.h>

/* False: not to be had (its owner was killed inside); the caller observes nothing. A lock that a
 * thread of the parent process held at fork is taken over. */
bool lock_take(void);
void lock_release(void);
/* A lock was taken over: what its owner was changing may be half done. Cleared by the call. */
bool lock_was_inherited(void);

#endif
