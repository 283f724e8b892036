/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of one process: by exec it becomes another program, which has a log of its own. What counts
 * is the last program; one that only pointed to it (a shell, env) is not a process.
 */
#pragma once

#include "source.h"

/* A log that has a library or something requested without success. */
bool image_counts(const struct source *log);
/* Of each process the last log that counts, else the last one, in the order they had; after them
 * those that it replaced. How many are the first. */
size_t images_join(struct source **logs, size_t n);
