/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a stack keeps what is applied to it: copies in its arena, lists that grow. For
 * core/model/stack.c.
 */
#pragma once

#include "stack.h"

/* Turns every pointer of `record` (a struct of that kind) into one to a copy in the arena; what is
 * as in `old` (NULL: there is none) stays shared with it. False: memory ended, and `record` is not
 * to be used. */
bool wc_stack_keep(struct wc_stack *s, enum wc_kind kind, void *record, const void *old);

/* A copy of one text, that of an equal one kept lately; NULL: no memory. */
const char *wc_stack_keep_text(struct wc_stack *s, const char *text);

/* Room for one entry more in the array *p of n entries: its address, zeroed. *p and *room follow.
 * NULL: none left, nothing changed. */
void *wc_stack_grow(struct wc_stack *s, void **p, size_t n, size_t *room, size_t size);

bool wc_has_text(const struct wc_strings *list, const char *text);
/* Adds the texts that `to`, filled by this function alone, does not have yet. Functions come one by
 * one where a host looks each up: the list grows by doubling, in place while there is room. False:
 * not all found room. */
bool wc_stack_add_texts(struct wc_stack *s, struct wc_strings *to, const struct wc_strings *from);
