/* SPDX-License-Identifier: Apache-2.0 */
#include "shown.h"

#include "json_text.h"

#define GAP "..."
#define GAP_LENGTH (sizeof(GAP) - 1)

/* A backslash, a letter and hexadecimal digits. */
static size_t spell(char out[WC_SHOWN_MOST], char letter, uint32_t c, int digits) {
    char *p = out;

    while (digits < 8 && c >> (4 * digits))
        digits++;
    *p++ = '\\';
    *p++ = letter;
    while (digits-- > 0)
        *p++ = "0123456789abcdef"[c >> (4 * digits) & 15];
    return (size_t)(p - out);
}

size_t wc_shown(const char *s, char out[WC_SHOWN_MOST], size_t *used) {
    size_t n = *s ? wc_utf8_length(s) : 0;
    uint32_t hidden = n > 0 ? wc_utf8_hidden(s, n) : 0;

    *used = n ? n : *s != '\0';
    if (*used == 0)
        return 0;
    if (n == 0 || (n == 1 && hidden))
        return spell(out, 'x', (unsigned char)*s, 2);
    if (hidden)
        return spell(out, 'u', hidden, 4);
    wc_mem_copy(out, s, n);
    return n;
}

void wc_text_add_shown(struct wc_text *t, const char *s) {
    char out[WC_SHOWN_MOST];
    size_t n, used;

    for (; s && (n = wc_shown(s, out, &used)) > 0 && !t->cut; s += used) {
        if (n > t->cap - 1 - t->n)
            t->cut += n; /* no part of a character */
        else
            wc_text_add_n(t, out, n);
    }
}

size_t wc_columns_n(const char *s, size_t n) {
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += !wc_utf8_continues(s[i]);
    return columns;
}

size_t wc_columns(const char *s) {
    return wc_columns_n(s, wc_str_length(s));
}

/* Bytes of the first n characters. */
static size_t bytes_of(const char *s, size_t n) {
    size_t i = 0;

    while (s[i] && (n > 0 || wc_utf8_continues(s[i])))
        n -= !wc_utf8_continues(s[i++]);
    return i;
}

/* Keeps the first directory, which shows the tree, and as many of the last as fit. */
void wc_text_add_shortened(struct wc_text *t, const char *s, size_t width) {
    const char *second = wc_str_find_char(s + (*s == '/'), '/'), *tail;
    size_t head = second ? (size_t)(second - s) + 1 : 0;

    if (wc_columns(s) <= width) {
        wc_text_add(t, s);
        return;
    }
    tail = second ? wc_str_find_last_char(s, '/') : NULL;
    if (!second || GAP_LENGTH + wc_columns(tail) > width) {
        s = second ? tail + 1 : s;
        size_t all = wc_columns(s), kept = width - GAP_LENGTH;
        if (all <= width) {
            wc_text_add(t, s);
        } else { /* without the middle of the last name */
            wc_text_add_n(t, s, bytes_of(s, kept / 2));
            wc_text_format(t, "%s%s", GAP, s + bytes_of(s, all - (kept - kept / 2)));
        }
    } else if (head + GAP_LENGTH + wc_columns(tail) > width) {
        wc_text_format(t, "%s%s", GAP, tail);
    } else {
        for (tail = second + 1; head + GAP_LENGTH + wc_columns(tail - 1) > width;)
            tail = wc_str_find_char(tail, '/') + 1;
        wc_text_format(t, "%.*s%s%s", (int)head, s, GAP, tail - 1);
    }
}
