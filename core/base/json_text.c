/* SPDX-License-Identifier: Apache-2.0 */
/* Spelling of JSON: see json_text.h. */
#include "json_text.h"

#include "whichcudnn/record.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
#define ESCAPE_MAX 12

/* The second byte carries all the limits of a sequence: table 3-7 of the Unicode standard. */
static bool second_fits(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return wc_utf8_continues((char)second);
    }
}

size_t wc_utf8_length(const char *s) {
    const unsigned char *u = (const unsigned char *)s;

    if (u[0] == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    if (u[0] < 0xC2 || u[0] > 0xF4 || !second_fits(u[0], u[1]))
        return 0;
    if (u[0] < 0xE0)
        return 2;
    if (!wc_utf8_continues(s[2]))
        return 0;
    if (u[0] < 0xF0)
        return 3;
    return wc_utf8_continues(s[3]) ? 4 : 0;
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

uint32_t wc_utf8_hidden(const char *s, size_t n) {
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = (unsigned char)s[0] & first_bits[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3F);
    WC_EACH_ROW(row, hidden)
        if (c >= row->first && c <= row->last)
            return c;
    return 0;
}

void wc_json_add(struct wc_json *j, const char *s, size_t n) {
    if (j->p && j->n < j->cap)
        wc_mem_copy(j->p + j->n, s, n < j->cap - j->n ? n : j->cap - j->n);
    j->n += n;
}

void wc_json_add_text(struct wc_json *j, const char *s) {
    wc_json_add(j, s, wc_str_length(s));
}

void wc_json_add_int(struct wc_json *j, int64_t v) {
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;

    if (v == WC_NULL) {
        wc_json_add(j, "null", 4);
        return;
    }
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        *--p = '-';
    wc_json_add(j, p, (size_t)(digits + sizeof digits - p));
}

/* The letter after a backslash; 0: none. */
static char short_escape(char c) {
    static const char characters[] = "\"\\\n\t\r", letters[] = "\"\\ntr";
    const char *at = wc_str_find_char(characters, c);

    return at ? letters[at - characters] : 0;
}

/* \u and four digits. Returns bytes. */
static size_t spell_unit(uint32_t unit, char *out) {
    static const char hex[] = "0123456789abcdef";

    out[0] = '\\';
    out[1] = 'u';
    for (int i = 0; i < 4; i++)
        out[2 + i] = hex[unit >> (12 - 4 * i) & 15];
    return 6;
}

/* Beyond U+FFFF two of them are one character. */
static size_t spell_hidden(uint32_t c, char out[ESCAPE_MAX]) {
    if (c < 0x10000)
        return spell_unit(c, out);
    spell_unit(0xD800 | (c - 0x10000) >> 10, out);
    return 6 + spell_unit(0xDC00 | ((c - 0x10000) & 0x3FF), out + 6);
}

/* The spelling of the character at s; *used: its bytes in s. Returns bytes in out. */
static size_t spell(const char *s, char out[ESCAPE_MAX], size_t *used) {
    size_t n = wc_utf8_length(s);
    uint32_t odd = n ? wc_utf8_hidden(s, n) : 0;

    *used = n ? n : 1;
    if (n == 0) {
        wc_mem_copy(out, REPLACEMENT, 3);
        return 3;
    }
    if (short_escape(s[0])) {
        out[0] = '\\';
        out[1] = short_escape(s[0]);
        return 2;
    }
    if (odd)
        return spell_hidden(odd, out);
    wc_mem_copy(out, s, n);
    return n;
}

/* How many bytes of s, at most `most`, are spelled as they are: nearly all. */
static size_t plain_length(const char *s, size_t most) {
    static const bool plain[256] = {
        [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};
    size_t n = 0;

    while (n < most && plain[(unsigned char)s[n]])
        n++;
    return n;
}

void wc_json_add_string(struct wc_json *j, const char *s, size_t most) {
    char spelled[ESCAPE_MAX];
    size_t used, n, sum = 0;

    if (!s) {
        wc_json_add_text(j, "null");
        return;
    }
    wc_json_add(j, "\"", 1);
    for (; *s; s += used) {
        used = plain_length(s, most - sum);
        if (used) {
            wc_json_add(j, s, used);
            sum += used;
            continue;
        }
        n = spell(s, spelled, &used);
        if (n > most - sum) {
            j->cut += (int64_t)wc_str_length(s);
            break;
        }
        wc_json_add(j, spelled, n);
        sum += n;
    }
    wc_json_add(j, "\"", 1);
}
