/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens awake when a host calls one of the exported functions. asleep.c calls them.
 */
#pragma once

#include <sys/stat.h>

#include "asleep.h"
#include "entry.h"

/* Once, before any of the others. envp: NULL where it is not known yet; standard_error: as it was
 * at start, NULL where that is now. False: nothing is to be observed. */
bool hooks_wake(const char *const *envp, const struct stat *standard_error);
/* The last request before that, if its outcome is open. */
void hooks_note(const struct asleep_request *request);
/* Out of an entry; next is where that leads. */
struct entry_answer hooks_enter(unsigned entry, const uintptr_t *arguments,
                                uintptr_t return_address, uintptr_t next);
/* The loader's words on what this thread's last call did. */
void hooks_hear(const char *text);
/* The function behind one of our wrappers, or the address itself. */
const void *hooks_behind(const void *address);
/* Our own beginning and end. */
void hooks_begin(void);
void hooks_end(void);
