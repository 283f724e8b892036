/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits in words: as a sentence, as what is typed. What stands in a command comes from files that
 * nobody has vetted: text that a shell could take for more than it is gets into none.
 */
#pragma once

#include "core/base/base.h"
#include "edit.h"

const char *edits_text(struct wc_arena *memory, const struct edits *edits);
/* NULL: there is none for one of them. */
const char *edits_command(struct wc_arena *memory, const struct edits *edits);
/* Of the one that takes most of the user: a word of core/findings/findings.def's actions. */
const char *edits_action(const struct edits *edits);
