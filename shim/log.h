/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log file: one line, one write; opened for each and closed again, since hosts close and reuse
 * descriptors. Callers hold the shim's lock.
 */
#pragma once

#include <sys/stat.h>

#include "core/base/base.h"

/* Chooses and creates this process's file; again after a fork. node, start_ticks: for its name.
 * False: no place would have it; the reason is kept (log_trouble). */
bool log_create(const char *node, int64_t pid, int64_t start_ticks);
/* Absolute path, "" before log_create or without a file. */
const char *log_path(void);
/* There is no file yet, for a reason that passes (a full descriptor table): try again. */
bool log_may_come(void);
/* Why there is no file, or why a line was lost; NULL: all is well. */
const char *log_trouble(void);
/* The line with its newline. False: it was not written, or not whole. */
bool log_append(const char *line, size_t n);
/* Removes the file (nothing relevant happened). */
void log_remove(void);
/* To standard error, in one write; nothing where descriptor 2 has become something else. */
void log_to_standard_error(const char *text, size_t n);
/* Remembers what standard error is; the first call counts. */
void log_note_standard_error(const struct stat *at_start);
