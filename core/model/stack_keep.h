/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies into the arena of a model, and lists in it that grow. For core/model/stack.c.
 */
#pragma once

#include "stack.h"

/* Replaces every pointer of `record` (a struct of that kind) by one to a copy in the arena, or to
 * the equal text of `old` (may be NULL). False: no memory, and `record` must not be used. */
bool wc_stack_keep(struct wc_stack *s, enum wc_kind kind, void *record, const void *old);

/* A copy of the text, or a recent copy of an equal one; NULL: no memory. */
const char *wc_stack_keep_text(struct wc_stack *s, const char *text);

/* Room for one entry more in the array *p of n entries: its address, zeroed. *p and *room follow.
 * NULL: none left, nothing changed. */
void *wc_stack_grow(struct wc_stack *s, void **p, size_t n, size_t *room, size_t size);

bool wc_has_text(const struct wc_strings *list, const char *text);
/* Adds the texts that `to` does not have yet; only this function may fill `to`. The list grows by
 * doubling, since a host that looks up each function adds them one by one. False: not all fit. */
bool wc_stack_add_texts(struct wc_stack *s, struct wc_strings *to, const struct wc_strings *from);
