/* SPDX-License-Identifier: Apache-2.0 */
/* Texts with places: "{word}" means its value, "{word|others}" for others where it has none. */
#pragma once

#include "core/base/base.h"

/* NULL: a place has neither. value: of a word, which lives as long as the memory; NULL: none. */
const char *template_filled(struct wc_arena *memory, const char *text,
                            const char *(*value)(void *ctx, const char *word), void *ctx);
