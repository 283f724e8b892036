/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks: what lasts of a process (versions, build-ids, rules, installations), in a file that is
 * kept with a project, read by people and compared by `git diff`: records as a log has them, with
 * chosen fields, sorted, one fact a line, the same for the same stack. docs/lock.md is its page.
 */
#pragma once

#include <stdio.h>

#include "tools/observe/log/source.h"

/* paths: with directories of this machine, and the environment, which is made of such. */
void lock_write(FILE *to, const struct source *source, bool paths);
/* What pip installs to get the same again, as a requirements file; what does not come from pip is
 * named in comments. Number of requirements. */
size_t lock_write_requirements(FILE *to, const struct source *source);

/* It begins as a lock does, be it of an older format. */
bool lock_begins(const char *path);
/* NULL: it cannot be read, and *trouble (the caller frees) says why, and where. */
struct source *lock_read(const char *path, char **trouble);
