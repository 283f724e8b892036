/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory, strings, text and arenas without libc (base.h).
 *
 * Compilers know the shape of these loops and replace them with calls of exactly the functions that
 * they are in for: memcpy, memset, strlen. Inside the shim those are interposable, or lead
 * straight back here. OPAQUE hides a pointer's way through the loop, so that no such pattern is
 * seen, in gcc and clang alike, whatever the flags.
 */
#include "base.h"

#define OPAQUE(p) __asm__("" : "+r"(p))

void(wc_mem_copy)(void *to, const void *from, size_t n) {
    unsigned char *d = to;
    const unsigned char *s = from;
    for (; n >= sizeof(wc_wide); n -= sizeof(wc_wide)) {
        *(wc_wide *)d = *(const wc_wide *)s;
        d += sizeof(wc_wide);
        s += sizeof(wc_wide);
        OPAQUE(d);
    }
    for (; n; n--) {
        *d++ = *s++;
        OPAQUE(d);
    }
}

void wc_mem_move(void *to, const void *from, size_t n) {
    unsigned char *d = to;
    const unsigned char *s = from;
    /* Overlap by less than a word is safe both ways: a whole word is read before it is written,
     * and the writes run away from what is still to be read. */
    if ((uintptr_t)to - (uintptr_t)from >= n) {
        (wc_mem_copy)(to, from, n);
        return;
    }
    for (; n >= sizeof(wc_wide); n -= sizeof(wc_wide)) {
        *(wc_wide *)(d + n - sizeof(wc_wide)) = *(const wc_wide *)(s + n - sizeof(wc_wide));
        OPAQUE(d);
    }
    for (; n; n--) {
        d[n - 1] = s[n - 1];
        OPAQUE(d);
    }
}

void wc_mem_set(void *to, int byte, size_t n) {
    unsigned char *d = to;
    uint64_t word = (unsigned char)byte * UINT64_C(0x0101010101010101);
    for (; n >= 4 * sizeof(wc_wide); n -= 4 * sizeof(wc_wide)) {
        ((wc_wide *)d)[0] = ((wc_wide *)d)[1] = ((wc_wide *)d)[2] = ((wc_wide *)d)[3] = word;
        d += 4 * sizeof(wc_wide);
        OPAQUE(d);
    }
    for (; n >= sizeof(wc_wide); n -= sizeof(wc_wide)) {
        *(wc_wide *)d = word;
        d += sizeof(wc_wide);
        OPAQUE(d);
    }
    for (; n; n--) {
        *d++ = (unsigned char)byte;
        OPAQUE(d);
    }
}

int(wc_mem_compare)(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    while (n >= sizeof(wc_wide) && *(const wc_wide *)x == *(const wc_wide *)y) {
        n -= sizeof(wc_wide);
        x += sizeof(wc_wide);
        y += sizeof(wc_wide);
        OPAQUE(x);
    }
    for (; n; n--, x++, y++) {
        OPAQUE(x);
        if (*x != *y)
            return *x < *y ? -1 : 1;
    }
    return 0;
}

size_t(wc_str_length)(const char *s) {
    const char *end = s;
    while (end[0]) {
        if (!end[1])
            return (size_t)(end - s) + 1;
        if (!end[2])
            return (size_t)(end - s) + 2;
        if (!end[3])
            return (size_t)(end - s) + 3;
        end += 4;
        OPAQUE(end);
    }
    return (size_t)(end - s);
}

int(wc_str_compare)(const char *a, const char *b) {
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    while (*x && *x == *y) {
        x++;
        y++;
    }
    return (*x > *y) - (*x < *y);
}

bool wc_str_starts(const char *s, const char *start) {
    while (*start) {
        if (*s++ != *start++)
            return false;
    }
    return true;
}

bool wc_str_ends(const char *s, const char *end) {
    size_t n = wc_str_length(s), m = wc_str_length(end);
    return n >= m && wc_mem_compare(s + n - m, end, m) == 0;
}

bool wc_str_same(const char *a, const char *b) {
    return a == b || (a && b && wc_str_compare(a, b) == 0);
}

const char *wc_str_or_null(const char *s) {
    return s[0] ? s : NULL;
}

const char *(wc_str_find)(const char *s, const char *part) {
    for (; *s && *part; s++)
        if (*s == *part && wc_str_starts(s, part))
            return s;
    return *part ? NULL : s;
}

const char *(wc_str_find_char)(const char *s, char c) {
    for (; *s != c; s++) {
        OPAQUE(s);
        if (!*s)
            return NULL;
    }
    return s;
}

const char *(wc_str_find_last_char)(const char *s, char c) {
    for (const char *at = s + wc_str_length(s);; at--) {
        if (*at == c)
            return at;
        if (at == s)
            return NULL;
    }
}

const char *wc_base_name(const char *path) {
    const char *slash = path ? wc_str_find_last_char(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

size_t wc_dir_length(const char *path) {
    const char *slash = wc_str_find_last_char(path, '/');
    return !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

bool wc_same_directory(const char *a, const char *b) {
    return a && b && wc_dir_length(a) == wc_dir_length(b) &&
           wc_mem_compare(a, b, wc_dir_length(a)) == 0;
}

size_t wc_dir_above(const char *path, size_t n) {
    while (n && path[n - 1] != '/')
        n--;
    return n ? n - 1 : 0;
}

size_t wc_parse_number(const char *s, size_t n, uint64_t *out) {
    uint64_t v = 0;
    size_t i = 0;
    for (; i < n && wc_is_digit(s[i]); i++) {
        uint64_t digit = (uint64_t)(s[i] - '0');
        if (v > ((uint64_t)INT64_MAX - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    if (i)
        *out = v;
    return i;
}

struct wc_element wc_element_at(const char *list, const char *separators) {
    struct wc_element e = {list, 0};
    while (list && list[e.n] && list[e.n] != separators[0] && list[e.n] != separators[1])
        e.n++;
    return e;
}

void wc_text_begin(struct wc_text *t, char *buffer, size_t cap) {
    *t = (struct wc_text){.p = buffer, .cap = cap};
    buffer[0] = '\0';
}

void wc_text_add_n(struct wc_text *t, const char *s, size_t n) {
    size_t room = t->cap - 1 - t->n;
    if (n > room) {
        t->cut += n - room;
        n = room;
    }
    if (n)
        wc_mem_copy(t->p + t->n, s, n);
    t->n += n;
    t->p[t->n] = '\0';
}

void wc_text_add(struct wc_text *t, const char *s) {
    if (s)
        wc_text_add_n(t, s, wc_str_length(s));
}

void wc_text_add_char(struct wc_text *t, char c) {
    wc_text_add_n(t, &c, 1);
}

static void add_digits(struct wc_text *t, uint64_t v, unsigned base, bool negative) {
    char digits[24]; /* 20 digits of 2^64 and a sign */
    char *p = digits + sizeof digits;
    do {
        *--p = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    if (negative)
        *--p = '-';
    wc_text_add_n(t, p, (size_t)(digits + sizeof digits - p));
}

_Static_assert(sizeof(long) == 8 && sizeof(size_t) == 8, "l, ll, j and z are one length");

struct arguments {
    va_list list; /* a struct, since a parameter of the bare type may be a pointer */
};

/* Adds the conversion at p, after its '%'. Returns what follows it; NULL: an unknown one. */
static const char *convert(struct wc_text *t, const char *p, struct arguments *a) {
    bool wc_wide = *p == 'l' || *p == 'j' || *p == 'z';
    size_t most = SIZE_MAX;
    if (wc_wide) {
        p += wc_str_starts(p, "ll") ? 2 : 1;
    } else if (wc_str_starts(p, ".*s")) {
        most = (size_t)va_arg(a->list, int); /* a negative one is not a bound */
        p += 2;
    }
    if (*p == 'd') {
        int64_t v = wc_wide ? va_arg(a->list, int64_t) : va_arg(a->list, int);
        add_digits(t, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, v < 0);
    } else if (*p == 'u' || *p == 'x') {
        uint64_t v = wc_wide ? va_arg(a->list, uint64_t) : va_arg(a->list, unsigned);
        add_digits(t, v, *p == 'u' ? 10 : 16, false);
    } else if (*p == 's' && !wc_wide) {
        const char *s = va_arg(a->list, const char *);
        size_t n = 0;
        if (s && most == SIZE_MAX)
            n = wc_str_length(s);
        else
            while (s && n < most && s[n])
                n++;
        wc_text_add_n(t, s, n);
    } else if (*p == 'c' && !wc_wide) {
        wc_text_add_char(t, (char)va_arg(a->list, int));
    } else if (*p == '%' && !wc_wide) {
        wc_text_add_char(t, '%');
    } else {
        return NULL;
    }
    return p + 1;
}

void wc_text_format_list(struct wc_text *t, const char *format, va_list list) {
    struct arguments a;
    const char *percent, *behind = format;
    va_copy(a.list, list);
    while (behind && (percent = wc_str_find_char(format, '%'))) {
        wc_text_add_n(t, format, (size_t)(percent - format));
        behind = convert(t, percent + 1, &a);
        format = behind ? behind : percent;
    }
    wc_text_add(t, format);
    va_end(a.list);
}

void wc_text_format(struct wc_text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    wc_text_format_list(t, format, list);
    va_end(list);
}

bool wc_str_format(char *to, size_t cap, const char *format, ...) {
    struct wc_text t;
    va_list list;
    wc_text_begin(&t, to, cap);
    va_start(list, format);
    wc_text_format_list(&t, format, list);
    va_end(list);
    return !t.cut;
}

bool wc_str_copy(char *to, size_t cap, const char *s) {
    return wc_str_format(to, cap, "%s", s);
}

void *wc_arena_take(struct wc_arena *a, size_t n) {
    return a->more(a->owner, n ? n : 1);
}

char *wc_arena_string_n(struct wc_arena *a, const char *s, size_t n) {
    if (!s || n == SIZE_MAX)
        return NULL;
    char *copy = wc_arena_take(a, n + 1);
    if (!copy)
        return NULL;
    wc_mem_copy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *wc_arena_string(struct wc_arena *a, const char *s) {
    return s ? wc_arena_string_n(a, s, wc_str_length(s)) : NULL;
}

char *wc_arena_format_list(struct wc_arena *a, const char *format, va_list list) {
    char nothing[1];
    struct wc_text t;
    wc_text_begin(&t, nothing, sizeof nothing);
    wc_text_format_list(&t, format, list);
    size_t size = t.cut + 1;
    char *text = wc_arena_take(a, size);
    if (!text)
        return NULL;
    wc_text_begin(&t, text, size);
    wc_text_format_list(&t, format, list);
    return text;
}

char *wc_arena_format(struct wc_arena *a, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = wc_arena_format_list(a, format, list);
    va_end(list);
    return text;
}

static void *more_of_buffer(void *owner, size_t n) {
    struct wc_buffer_arena *b = owner;
    if (b->used > b->cap)
        return NULL;
    size_t padding = -((uintptr_t)b->p + b->used) & 15;
    size_t room = b->cap - b->used;
    if (padding > room || n > room - padding)
        return NULL;
    unsigned char *p = b->p + b->used + padding;
    b->used += padding + n;
    wc_mem_set(p, 0, n); /* not at the start: `used` may have been reset over old contents */
    return p;
}

void wc_buffer_arena_begin(struct wc_buffer_arena *b, void *buffer, size_t cap) {
    *b = (struct wc_buffer_arena){.arena = {more_of_buffer, b}, .p = buffer, .cap = cap};
}
