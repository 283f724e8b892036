/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log file. Each line is one write, and the file is opened for it and closed again, because
 * hosts close and reuse descriptors. Callers hold the shim's lock.
 */
#pragma once

#include <sys/stat.h>

#include "core/base/base.h"

/* Chooses a name and creates this process's file; called again after a fork. node, start_ticks: for
 * its name. False: it could not be created anywhere; log_trouble() has the reason. */
bool log_create(const char *node, int64_t pid, int64_t start_ticks);
/* Absolute path, "" before log_create or without a file. */
const char *log_path(void);
/* Is there no file only for a reason that may pass (a full descriptor table)? Then try again. */
bool log_may_come(void);
/* Why there is no file, or why a line was lost; NULL: all is well. */
const char *log_trouble(void);
/* The line with its newline. False: it was not written, or not whole. */
bool log_append(const char *line, size_t n);
/* Removes the file: the process did not use cuDNN. */
void log_remove(void);
/* Prints to standard error, in one write; nothing if descriptor 2 is no longer standard error. */
void log_to_standard_error(const char *text, size_t n);
/* Remembers which file standard error is. at_start: as it was then; NULL: it still is. */
void log_note_standard_error(const struct stat *at_start);
