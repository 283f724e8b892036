/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process and thread this is, without asking the kernel each time, which a sandbox may
 * forbid. A pid does not identify a process: a forked child may have its parent's (pid 1 in nested
 * namespaces). A page that the kernel wipes in a forked child does.
 */
#pragma once

#include <stdbool.h>

/* Comes first in each hook. False: this is a child that shares its parent's memory (vfork,
 * CLONE_VM), or the pid is unknown; then the caller must not change or record anything. */
bool self_enter(void);
/* A number for this process: 1 in the program as it was started, higher in a forked child than in
 * its parent. 0: a forked child that has not called self_enter yet. */
unsigned self_process(void);
/* Valid after self_enter. */
int self_pid(void);
int self_tid(void);
