/* SPDX-License-Identifier: Apache-2.0 */
#include "shown.h"

#include "json_text.h"

#define GAP "..."
#define GAP_LENGTH (sizeof(GAP) - 1)

static bool continues(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The character of n bytes (wc_utf8_length) at s if a terminal could take it as an order, else 0:
 * controls, line separators, and the marks that change the order in which text is shown (Unicode's
 * UAX #9). A file name must not be able to rewrite the line it is on. */
static uint32_t order_at(const char *s, size_t n) {
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = (unsigned char)s[0] & first_bits[n];
    bool order;

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3F);
    order = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
            (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
    return order ? c : 0;
}

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
    uint32_t order = n > 0 ? order_at(s, n) : 0;

    *used = n ? n : *s != '\0';
    if (*used == 0)
        return 0;
    if (n == 0 || (n == 1 && order))
        return spell(out, 'x', (unsigned char)*s, 2);
    if (order)
        return spell(out, 'u', order, 4);
    wc_mem_copy(out, s, n);
    return n;
}

void wc_text_add_shown(struct wc_text *t, const char *s) {
    char out[WC_SHOWN_MOST];
    size_t n, used;

    for (; s && (n = wc_shown(s, out, &used)) > 0 && !t->cut; s += used) {
        if (n > t->cap - 1 - t->n)
            t->cut += n; /* no half of one */
        else
            wc_text_add_n(t, out, n);
    }
}

size_t wc_columns_n(const char *s, size_t n) {
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += !continues(s[i]);
    return columns;
}

size_t wc_columns(const char *s) {
    return wc_columns_n(s, wc_str_length(s));
}

/* Bytes of the first n characters. */
static size_t bytes_of(const char *s, size_t n) {
    size_t i = 0;

    while (s[i] && (n > 0 || continues(s[i])))
        n -= !continues(s[i++]);
    return i;
}

static void add_without_middle(struct wc_text *t, const char *s, size_t width) {
    size_t all = wc_columns(s), head = (width - GAP_LENGTH) / 2;
    size_t tail = width - GAP_LENGTH - head;

    if (all <= width) {
        wc_text_add(t, s);
        return;
    }
    wc_text_add_n(t, s, bytes_of(s, head));
    wc_text_format(t, "%s%s", GAP, s + bytes_of(s, all - tail));
}

/* The first directory, so that it is known whose it is, and as many of the last as fit. */
void wc_text_add_shortened(struct wc_text *t, const char *s, size_t width) {
    const char *second = wc_str_find_char(s + (*s == '/'), '/'), *tail;
    size_t head = second ? (size_t)(second - s) + 1 : 0;

    if (wc_columns(s) <= width) {
        wc_text_add(t, s);
        return;
    }
    tail = second ? wc_str_find_last_char(s, '/') : NULL;
    if (!second || GAP_LENGTH + wc_columns(tail) > width) {
        add_without_middle(t, second ? tail + 1 : s, width);
    } else if (head + GAP_LENGTH + wc_columns(tail) > width) {
        wc_text_format(t, "%s%s", GAP, tail);
    } else {
        for (tail = second + 1; head + GAP_LENGTH + wc_columns(tail - 1) > width;)
            tail = wc_str_find_char(tail, '/') + 1;
        wc_text_format(t, "%.*s%s%s", (int)head, s, GAP, tail - 1);
    }
}
