/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes names from files and logs safe to print, and short; allocates nothing. Both the shim and
 * the command print with it.
 */
#pragma once

#include "base.h"

/*
 * Writes the character at s to out as it is printed. Characters that a terminal obeys or does not
 * show (wc_utf8_hidden) are escaped: ASCII's controls and bytes that are not UTF-8 as \x1b, others
 * as \u202e. *used: its bytes in s. Returns the bytes in out, 0 at the end.
 */
#define WC_SHOWN_MOST 12
size_t wc_shown(const char *s, char out[WC_SHOWN_MOST], size_t *used);
void wc_text_add_shown(struct wc_text *t, const char *s); /* NULL adds nothing */

/* Number of characters, which counts each as one column. s is valid UTF-8, as wc_shown makes it. */
size_t wc_columns(const char *s);
/* The same of the first n bytes of s. */
size_t wc_columns_n(const char *s, size_t n);
/* Adds s in at most `width` columns (at least 8): leaves whole directories out of its middle, then
 * characters. */
void wc_text_add_shortened(struct wc_text *t, const char *s, size_t width);
