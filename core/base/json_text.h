/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON text without memory: a sink that counts what it is given and keeps what fits, and the
 * spelling of strings. For core/model/record.c; core/base/shown.c shares
 * wc_utf8_length.
 */
#pragma once

#include "base.h"

/* p NULL: only counts. n: bytes that would have been written, may exceed cap. */
struct wc_json {
    char *p;
    size_t cap, n;
    int64_t cut; /* bytes of text and list elements left out so far */
};

/* Bytes (1 to 4) of the well-formed UTF-8 character at s, 0 if there is none (at the end too).
 * Rejects overlong forms, surrogates, and what is above U+10FFFF (Unicode 15, table 3-7). */
size_t wc_utf8_length(const char *s);
/* The character of n bytes (wc_utf8_length) at s, if it must not be shown as it stands, else 0: a
 * terminal would take it as an order, or nobody would see that it is there. */
uint32_t wc_utf8_hidden(const char *s, size_t n);

void wc_json_add(struct wc_json *j, const char *s, size_t n);
void wc_json_add_text(struct wc_json *j, const char *s); /* as it is, unquoted */
/* WC_NULL is null. */
void wc_json_add_int(struct wc_json *j, int64_t v);
/* Quoted; NULL is null. Between the quotes stand at most `most` bytes: what is over is left out at
 * a character's end, and its bytes are counted in cut. */
void wc_json_add_string(struct wc_json *j, const char *s, size_t most);
