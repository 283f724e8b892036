/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people, without memory: names come out of files and logs, so each is shown harmless and
 * in few columns. The shim prints by this as well as the command.
 */
#pragma once

#include "base.h"

/*
 * How the character at s is shown: everything that a terminal could take as an order, or that would
 * not be seen (wc_utf8_hidden), is spelled out: ASCII's controls and bytes that are no UTF-8 as
 * \x1b, others as \u202e. Puts it into out; *used: its bytes in s. Returns the bytes in out, 0 at
 * the end.
 */
#define WC_SHOWN_MOST 12
size_t wc_shown(const char *s, char out[WC_SHOWN_MOST], size_t *used);
void wc_text_add_shown(struct wc_text *t, const char *s); /* NULL adds nothing */

/* Characters, each taken for one column. The text is well-formed, as what wc_shown makes. */
size_t wc_columns(const char *s);
/* The same of its first n bytes. */
size_t wc_columns_n(const char *s, size_t n);
/* s with whole directories, then characters, left out of its middle: at most `width` columns, of
 * which there are 8 at least. */
void wc_text_add_shortened(struct wc_text *t, const char *s, size_t width);
