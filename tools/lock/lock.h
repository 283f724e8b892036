/*
 * Locks: what lasts of a process (versions, build-ids, rules, installations), in a file that is
 * kept with a project, read by people and compared by `git diff`: one fact a line, in an order that
 * does not depend on the run, each line a line of TOML. docs/lock.md is its page.
 */
#ifndef WHICHCUDNN_TOOLS_LOCK_H
#define WHICHCUDNN_TOOLS_LOCK_H

#include <stdio.h>

#include "tools/log/source.h"

#define LOCK_FORMAT 1
#define LOCK_VERSION_KEY "whichcudnn-lock"
#define LOCK_END_KEY "end"

/* paths: with directories of this computer, and the environment, which is made of such. */
void lock_write(FILE *to, const struct source *source, bool paths);
/* What pip installs to get the same again, as a requirements file; what does not come from pip is
 * told in comments. Number of requirements. */
size_t lock_write_requirements(FILE *to, const struct source *source);

/* Its first line that says something is that of a lock. */
bool lock_begins(const char *path);
/* NULL: it cannot be read, and *trouble (the caller frees) says why, and in which line. */
struct source *lock_read(const char *path, char **trouble);

#endif
