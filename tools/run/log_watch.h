/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs that grow while a command runs: has a finding been written into one of them?
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "family.h"
#include "preload.h"

struct log_watch;

/* NULL: the directory is not known, or the kernel will not watch it. The place must outlive it. */
struct log_watch *log_watch_begin(const struct log_place *place);
int log_watch_descriptor(const struct log_watch *w); /* readable when something happened there */
/* Reads what happened. True: a log of this child, or of what it started, has a finding more. */
bool log_watch_read(struct log_watch *w, const struct family *family, pid_t child);
void log_watch_end(struct log_watch *w);
