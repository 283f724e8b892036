/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs code under the loader's dl_load_lock, so that no thread changes the loader's list meanwhile;
 * fork resets this lock in a child. (lock.h is the shim's own lock.) dl_iterate_phdr would hold
 * another lock, which no fork resets: a child forked meanwhile would hang in its next dlopen.
 */
#pragma once

#include <stdbool.h>

/* Runs the job inside the C library's own dlsym, which holds that lock. That dlsym also clears
 * dlerror's message, so it may be called only where the host's own call is about to clear it. The
 * shim's lock must not be held. False: the job did not run. */
bool loader_lock_run(void (*job)(void *), void *argument);
