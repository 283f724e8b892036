/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the cuDNN packages near a library that was loaded, or that could not be loaded. Each
 * environment (site-packages, conda prefix) is read once.
 */
#pragma once

#include "core/search/replay.h"

/* Adds a record for each cuDNN package in the environment of this file. Nothing if that was done
 * before, or path is NULL. */
void packages_note(const char *path);
/* The same for the virtual environment of a Python process, whose interpreter is outside of it. */
void packages_note_site(void);
/* The same after a failed request: near the requested path, or else near the caller. */
void packages_note_failure(const char *name, const char *caller, const char *text);
/* The same around the directories where a library was not found. */
void packages_note_wanted(struct wc_replay *replay, const char *name);
/* After a fork, as the table may be half changed. */
void packages_forget(void);
