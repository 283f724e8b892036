/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits in words: as one command to paste, made of them and of what manages the environment alone,
 * and as one sentence. What stands in them comes from files and logs that nobody has vetted: a
 * command has text of a narrow alphabet, or quoted, or there is none.
 */
#pragma once

#include "edit.h"
#include "manager.h"

/* NULL: there is no command for one of them, or no text that may stand in one. */
const char *command_of(struct wc_arena *memory, const struct edits *edits, const struct user *user);
/* Without a full stop. Names are as they are: who prints the text shows them harmless. */
const char *text_of(struct wc_arena *memory, const struct edits *edits);
