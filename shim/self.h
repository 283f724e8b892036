/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process and thread this is, without asking the kernel each time: a sandbox may not let us.
 * A pid tells no process from another: a forked child may have its parent's (pid 1 of a namespace
 * within another). What does is a page that the kernel wipes in a forked child.
 */
#pragma once

#include <stdbool.h>

/* False: this is a child that shares its parent's memory (vfork, CLONE_VM), to which it would do
 * what it does; or nobody tells who we are. Then nothing may be changed or told. */
bool self_enter(void);
/* 1 in the program as it was started, more in each forked child than in its parent. 0: a forked
 * child that has not entered yet. */
unsigned self_process(void);
/* After self_enter: those of the process that entered. */
int self_pid(void);
int self_tid(void);
