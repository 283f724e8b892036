/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that a command of `run` started and that outlive it: a daemon, a server.
 */
#pragma once

#include <sys/types.h>

/* How many run now that have the mark of this command in their environment; *one: one of them. */
size_t left_running(pid_t command, pid_t *one);
