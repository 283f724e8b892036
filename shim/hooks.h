/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an awake shim does when a host calls one of the exported functions. Called by asleep.c.
 */
#pragma once

#include <sys/stat.h>

#include "asleep.h"
#include "entry.h"

/* Comes first, once. envp: NULL if it is not known yet; standard_error: as it was at start, NULL:
 * it still is. False: nothing is to be observed. */
bool hooks_wake(const char *const *envp, const struct stat *standard_error);
/* Takes over the thread's last request from before the shim woke, whose result is not known yet. */
void hooks_note(const struct asleep_request *request);
/* Called by an entry, whose next definition is `next`. */
struct entry_answer hooks_enter(unsigned entry, const uintptr_t *arguments,
                                uintptr_t return_address, uintptr_t next);
/* dlerror returned this message about the thread's last call. */
void hooks_hear(const char *text);
/* The function that one of our wrappers forwards to, or the address itself. */
const void *hooks_behind(const void *address);
/* Called by our constructor and destructor. */
void hooks_begin(void);
void hooks_end(void);
