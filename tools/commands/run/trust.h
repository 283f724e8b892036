/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May code that is there be run with this process's rights? What a log names may be another
 * user's. All that would run or load something of it asks here first.
 *
 * Trusted are files of the caller, of root, and of the owner of `/`. No other user may write to
 * them, nor to a directory on the way up to `/`; with the sticky bit what is there stays. So a path
 * that is trusted is the same when it is used.
 */
#pragma once

#include "tools/observe/log/log_reader.h"

struct trust {   /* all zero: nothing was asked yet */
    char *why;   /* "PATH belongs to user x (uid 1000)", of the first that is not; NULL: all is */
    uid_t owner; /* the owner, where that is the reason; else 0 */
};

/* What is missing counts as the directory in which a user could make it. NULL: nothing. */
void trust_path(struct trust *t, const char *path);
/* What is in it, too, and has `part` in its name: ".so", as any of it may be loaded. */
void trust_directory(struct trust *t, const char *path, const char *part);
/* A value of LD_LIBRARY_PATH and similar; what `but` (NULL: nothing) has, too, is the caller's. */
void trust_list(struct trust *t, const char *list, const char *separators, const char *but);
/* The files that were read. */
void trust_logs(struct trust *t, const struct logs *logs);

/* Is something not trusted? Then that was complained of; or with --as-owner this command has run
 * again, with the rights of the owner. *answer is what to end with. Ends t. */
bool trust_refused(struct trust *t, int *answer);
