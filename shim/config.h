/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings: the WHICHCUDNN_* variables as they were at process start, and the other variables
 * that the log keeps (core/records/logged_variables.def).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_stderr { STDERR_OFF, STDERR_FINDING, STDERR_ALL };

struct config {
    bool loaded;
    bool off;    /* WHICHCUDNN_DISABLE=1 or a secure process: hooks only forward */
    bool secure; /* AT_SECURE */
    bool calls;  /* WHICHCUDNN_CALLS */
    bool whole_arguments;
    enum config_stderr standard_error;
    char log[4096];                  /* WHICHCUDNN_LOG, "" if unset */
    char expect[256];                /* WHICHCUDNN_EXPECT, "" if unset */
    int64_t run_pid;                 /* WHICHCUDNN_RUN_PID, 0 if unset */
    const char *temporary_directory; /* TMPDIR at process start; NULL: not set */
};

extern struct config config;

/* The first call reads the variables: from envp, which the constructor has, else from
 * /proc/self/environ. It needs no lock: the first caller is the only thread of the process, or all
 * of them get the same values. If that file cannot be read (no /proc; a program that its user may
 * not read), the shim is off until a call has envp. */
void config_load(const char *const *envp);

/* Value of a logged variable at process start; NULL: not set. */
const char *config_variable(const char *name);
/* "NAME=value" of each logged variable that was set at process start; ends with NULL. Valid for
 * ever.
 */
const char *const *config_logged(void);
