/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at the loader's list while nobody changes it: under dl_load_lock, which fork resets in a
 * child. A walk by dl_iterate_phdr holds another lock, which no fork resets: a child forked
 * meanwhile hangs in its next dlopen.
 */
#pragma once

#include <stdbool.h>

/* Runs the job inside of the C library's own dlsym, which holds that lock. It also makes dlerror
 * forget what it had to say: only where the host's own call is about to do so. Not under a lock of
 * ours. False: it did not run. */
bool locked_run(void (*job)(void *), void *argument);
