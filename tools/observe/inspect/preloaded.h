/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the shim in a process that runs?
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* True: neither its environment has the shim (a path) any more nor its memory. False also where
 * that cannot be seen. */
bool preload_is_gone(pid_t pid, const char *shim);
