/* SPDX-License-Identifier: Apache-2.0 */
#include "shown.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
#define GAP "..."
#define GAP_LENGTH (sizeof(GAP) - 1)

size_t wc_utf8_length(const char *s) {
    const unsigned char *u = (const unsigned char *)s;
    size_t n = u[0] < 0x80 ? 1 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;

    if (u[0] == 0 || (n > 1 && u[0] < 0xC2) || u[0] > 0xF4 ||
        WC_ANY(c, WC_ITEMS(s + 1, n - 1), !wc_utf8_continues(*c)))
        return 0;
    /* The second byte carries all other limits: table 3-7 of the Unicode standard. */
    if ((u[0] == 0xE0 && u[1] < 0xA0) || (u[0] == 0xED && u[1] > 0x9F) ||
        (u[0] == 0xF0 && u[1] < 0x90) || (u[0] == 0xF4 && u[1] > 0x8F))
        return 0;
    return n;
}

/* Controls, line separators, the marks that change the order in which text is shown (Unicode's UAX
 * #9), and what is not shown at all (Default_Ignorable_Code_Point in DerivedCoreProperties.txt):
 * a name must be able neither to rewrite the line that it is on nor to look like another. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x1, 0x1F},      {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

/* The character of n bytes at s if it must be escaped, because a terminal obeys it or does not show
 * it; else 0. */
static uint32_t hidden_at(const char *s, size_t n) {
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = (unsigned char)s[0] & first_bits[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3F);
    return WC_ANY(row, WC_ROWS(hidden), c >= row->first && c <= row->last) ? c : 0;
}

void wc_json_add(struct wc_json *j, const char *s, size_t n) {
    if (j->p && j->n < j->cap)
        wc_mem_copy(j->p + j->n, s, n < j->cap - j->n ? n : j->cap - j->n);
    j->n += n;
}

void wc_json_add_text(struct wc_json *j, const char *s) {
    wc_json_add(j, s, wc_str_length(s));
}

/* A backslash, a letter and at least so many hexadecimal digits. Returns bytes. */
static size_t spell_number(char *out, char letter, uint32_t c, int digits) {
    char *p = out;

    while (digits < 8 && c >> (4 * digits))
        digits++;
    *p++ = '\\';
    *p++ = letter;
    while (digits-- > 0)
        *p++ = "0123456789abcdef"[c >> (4 * digits) & 15];
    return (size_t)(p - out);
}

/* The spelling of the character at s in JSON, or as it is printed; *used: its bytes in s. Returns
 * bytes in out. */
static size_t spell(const char *s, bool json, char out[WC_SHOWN_MOST], size_t *used) {
    static const char characters[] = "\"\\\n\t\r", letters[] = "\"\\ntr";
    const char *escaped = json ? wc_str_find_char(characters, *s) : NULL;
    size_t n = wc_utf8_length(s);
    uint32_t odd = n ? hidden_at(s, n) : 0;

    *used = n ? n : 1;
    if (n == 0 && json) {
        wc_mem_copy(out, REPLACEMENT, 3);
        return 3;
    }
    if (escaped) {
        out[0] = '\\';
        out[1] = letters[escaped - characters];
        return 2;
    }
    if (!json && (n == 0 || (n == 1 && odd)))
        return spell_number(out, 'x', (unsigned char)*s, 2);
    if (json && odd >= 0x10000) { /* two units are one character */
        spell_number(out, 'u', 0xD800 | (odd - 0x10000) >> 10, 4);
        return 6 + spell_number(out + 6, 'u', 0xDC00 | ((odd - 0x10000) & 0x3FF), 4);
    }
    if (odd)
        return spell_number(out, 'u', odd, 4);
    wc_mem_copy(out, s, n);
    return n;
}

void wc_json_add_string(struct wc_json *j, const char *s, size_t most) {
    static const bool plain[256] = {
        [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};
    char spelled[WC_SHOWN_MOST];
    size_t used, n, sum = 0;

    if (!s) {
        wc_json_add_text(j, "null");
        return;
    }
    wc_json_add(j, "\"", 1);
    for (; *s; s += used) {
        for (used = 0; used < most - sum && plain[(unsigned char)s[used]];)
            used++;
        if (used) { /* nearly all is spelled as it is */
            wc_json_add(j, s, used);
            sum += used;
            continue;
        }
        n = spell(s, true, spelled, &used);
        if (n > most - sum) {
            j->cut += (int64_t)wc_str_length(s);
            break;
        }
        wc_json_add(j, spelled, n);
        sum += n;
    }
    wc_json_add(j, "\"", 1);
}

/* ---- as it is printed ---- */

size_t wc_shown(const char *s, char out[WC_SHOWN_MOST], size_t *used) {
    *used = 0;
    return *s ? spell(s, false, out, used) : 0;
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

size_t wc_bytes_of(const char *s, size_t n) {
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
            wc_text_add_n(t, s, wc_bytes_of(s, kept / 2));
            wc_text_format(t, "%s%s", GAP, s + wc_bytes_of(s, all - (kept - kept / 2)));
        }
    } else if (head + GAP_LENGTH + wc_columns(tail) > width) {
        wc_text_format(t, "%s%s", GAP, tail);
    } else {
        for (tail = second + 1; head + GAP_LENGTH + wc_columns(tail - 1) > width;)
            tail = wc_str_find_char(tail, '/') + 1;
        wc_text_format(t, "%.*s%s%s", (int)head, s, GAP, tail - 1);
    }
}
