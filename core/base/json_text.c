/* SPDX-License-Identifier: Apache-2.0 */
/* Spelling of JSON: see json_text.h. */
#include "json_text.h"

#include "whichcudnn/record.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
#define ESCAPE_MAX 8

static bool continues(unsigned char c) {
    return (c & 0xC0) == 0x80;
}

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
        return continues(second);
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
    if (!continues(u[2]))
        return 0;
    if (u[0] < 0xF0)
        return 3;
    return continues(u[3]) ? 4 : 0;
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

/* The letter behind a backslash; 0: none. */
static char short_escape(char c) {
    static const char characters[] = "\"\\\n\t\r", letters[] = "\"\\ntr";
    const char *at = wc_str_find_char(characters, c);

    return at ? letters[at - characters] : 0;
}

/* The spelling of the character at s; *used: its bytes in s. Returns bytes in out. */
static size_t spell(const char *s, char out[ESCAPE_MAX], size_t *used) {
    static const char hex[] = "0123456789abcdef";
    unsigned char c = (unsigned char)s[0];
    size_t n = wc_utf8_length(s);

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
    if (c < 0x20 || c == 0x7F) {
        wc_mem_copy(out, "\\u00", 4);
        out[4] = hex[c >> 4];
        out[5] = hex[c & 15];
        return 6;
    }
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
