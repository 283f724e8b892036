/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks: what lasts of a process (versions, build-ids, rules, installations), in a file that is
 * kept with a project, read by people and compared by `git diff`: JSON with sorted keys, one fact a
 * line, the same for the same stack. docs/lock.md is its page.
 */
#pragma once

#include <stdio.h>

#include "tools/log/source.h"

#define LOCK_FORMAT 2 /* 1 had lines of TOML */
#define LOCK_FORMAT_KEY "whichcudnn-lock"
#define LOCK_PART 40 /* bytes */

/* paths: with directories of this computer, and the environment, which is made of such. */
void lock_write(FILE *to, const struct source *source, bool paths);
/* What pip installs to get the same again, as a requirements file; what does not come from pip is
 * told in comments. Number of requirements. */
size_t lock_write_requirements(FILE *to, const struct source *source);

/* It begins as a lock does, be it of an older format. */
bool lock_begins(const char *path);
/* NULL: it cannot be read, and *trouble (the caller frees) says why, and in which line. */
struct source *lock_read(const char *path, char **trouble);

/* Of a name in the lock, without the number that tells several apart: "libcudnn.so.9 (2)". */
size_t lock_name_length(const char *key);
/* Role and part of an object by its name; the lock has a line where that is not so. */
void lock_identity_of(const char *name, enum wc_role *role, char part[LOCK_PART]);
