/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the command no log tells, and why. That the library was at work in a process that never
 * asked for cuDNN is known of the command itself, which logs from its start on and leaves that log
 * to us; of others only that they had cuDNN, by what they had mapped when they were looked at.
 */
#pragma once

#include "child_logs.h"
#include "run_end.h"
#include <sys/types.h>

/* logs: all that were found, empty ones as well. NULL: nothing is known to be missing. The caller
 * frees. */
char *unseen_reason(const struct run *run, const struct child_logs *logs);
/* Is that log of the program that the command was at its end, as far as the kernel's names for it
 * tell? */
bool was_the_last(const struct source *log, const struct family *family);

/* Processes that a command of `run` started and that outlive it (a daemon, a server): how many have
 * the mark of this command in their environment; *one: one of them. */
size_t left_running(pid_t command, pid_t *one);
