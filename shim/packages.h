/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packages of cuDNN near what was loaded, or could not be: each environment is looked at once.
 */
#pragma once

#include "core/search/replay.h"

/* Adds a record for each package of cuDNN in the environment of this file. Nothing if that was done
 * before, or path is none. */
void packages_note(const char *path);
/* Those of the environment that a Python works in, which its own files lie outside of. */
void packages_note_site(void);
/* The same for a load that failed: of the file that was asked for, else of who asked. */
void packages_note_failure(const char *name, const char *caller, const char *text);
/* Those around the directories where that library was searched in vain. */
void packages_note_wanted(struct wc_replay *replay, const char *name);
/* After a fork: the child's log has what was known, the tables may be half changed. */
void packages_forget(void);
