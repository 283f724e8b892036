/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits in words: as one command to paste, made of them and of only what manages the environment,
 * and as one sentence. What is in them comes from files and logs that are not trusted: a
 * command has text of a narrow alphabet, or quoted, or there is none.
 */
#pragma once

#include "manager.h"

/* Below an environment, while a repair is made there: what was there before. */
#define COMMAND_UNDO ".whichcudnn-undo"
#define ALPHANUMERIC "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* What is installed after something was removed is fetched before, so that a command that fails
 * leaves what it found. NULL: there is no command for one of them, or no text that may be in
 * one, or what manages the environment cannot fetch ahead. */
const char *command_of(struct wc_arena *memory, const struct edits *edits, const struct user *user);
/* The same of only n of them, from that one on: what fetches, or what changes. "": nothing. */
const char *command_of_some(struct wc_arena *memory, const struct edits *all, size_t from, size_t n,
                            bool fetches, const struct user *user);
/* The program that such a command starts and PATH does not have; NULL: none. */
const char *command_lacks(struct wc_arena *memory, const struct edits *edits,
                          const struct user *user);
/* Without a full stop. Names are as they are: the printing code shows them harmless. */
const char *text_of(struct wc_arena *memory, const struct edits *edits);

/* Fills a text with places: "{word}" means its value, "{word|others}" others where it has none.
 * NULL: a place has neither. value: of a word, which lives as long as the memory; NULL: none. */
const char *template_filled(struct wc_arena *memory, const char *text,
                            const char *(*value)(void *ctx, const char *word), void *ctx);
