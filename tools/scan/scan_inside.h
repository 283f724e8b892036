/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a scan: for tools/scan/ alone.
 */
#pragma once

#include "scan.h"

/* Remembers a library of a Python environment by its name: a package loads its own libraries by
 * their paths, so that others of the environment find them loaded. */
void scan_names_add(struct scan *s, const char *path);
void scan_names_end(struct scan *s);

/* Why no loader takes a file. The caller frees. */
char *scan_why_not(const struct scan *s, const char *path, const char *otherwise);
/* Of hosts that are in order. */
void scan_make_processes(struct scan *s);
