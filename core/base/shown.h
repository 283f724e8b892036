/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that may hold anything: as it is printed, and as JSON for core/model/record.c, which is
 * written without allocating.
 */
#pragma once

#include "base.h"

/* Bytes (1 to 4) of the well-formed UTF-8 character at s, 0 if there is none (at the end too).
 * Rejects overlong forms, surrogates, and what is above U+10FFFF (Unicode 15, table 3-7). */
size_t wc_utf8_length(const char *s);
/* Is this byte of UTF-8 the second or a later one of a character? */
static inline bool wc_utf8_continues(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/*
 * Writes the character at s to out as it is printed. Characters that a terminal obeys or does not
 * show are escaped: ASCII's controls and bytes that are not UTF-8 as \x1b, others
 * as \u202e. *used: its bytes in s. Returns the bytes in out, 0 at the end.
 */
#define WC_SHOWN_MOST 12
size_t wc_shown(const char *s, char out[WC_SHOWN_MOST], size_t *used);
void wc_text_add_shown(struct wc_text *t, const char *s); /* NULL adds nothing */

/* Number of characters, which counts each as one column. s is valid UTF-8, as wc_shown makes it. */
size_t wc_columns(const char *s);
/* The same of the first n bytes of s. */
size_t wc_columns_n(const char *s, size_t n);
/* Bytes of its first n characters. */
size_t wc_bytes_of(const char *s, size_t n);
/* Adds s in at most `width` columns (at least 8): leaves whole directories out of its middle, then
 * characters. */
void wc_text_add_shortened(struct wc_text *t, const char *s, size_t width);

/* ---- JSON: a sink that counts what it is given and keeps what fits ---- */

/* p NULL: only counts. n: bytes that would have been written, may exceed cap. */
struct wc_json {
    char *p;
    size_t cap, n;
    int64_t cut; /* bytes of text and list elements left out so far */
};

void wc_json_add(struct wc_json *j, const char *s, size_t n);
void wc_json_add_text(struct wc_json *j, const char *s); /* as it is, unquoted */
/* Quoted; NULL is null. At most `most` bytes stand between the quotes: the rest is left out from a
 * whole character on, and counted in cut. */
void wc_json_add_string(struct wc_json *j, const char *s, size_t most);
