/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all of core/ and shim/ use instead of libc: lists, memory and string functions, text,
 * arenas. libasan, jemalloc and other preloads replace libc's functions, and would call back into
 * the shim (shim/README.md, "Entries").
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory with its size. */
struct wc_span {
    const void *p;
    size_t n;
};

/* Goes through anything that has p and n: WC_EACH(o, stack->objects) use(o); */
#define WC_UNUSED __attribute__((unused)) /* a parameter that only the type asks for */
#define WC_EACH(item, list)                                                                        \
    for (const __typeof__(*(list).p) *item = (list).p,                                             \
                                     *item##_end = item ? item + (list).n : item;                  \
         item != item##_end; item++)

/* The first item for which the condition holds, NULL: none; and: is there one? */
#define WC_FIRST(item, list, holds)                                                                \
    ({                                                                                             \
        const __typeof__(*(list).p) *first_ = NULL;                                                \
        WC_EACH(item, list)                                                                        \
            if (holds) {                                                                           \
                first_ = item;                                                                     \
                break;                                                                             \
            }                                                                                      \
        first_;                                                                                    \
    })
#define WC_ANY(item, list, holds) (WC_FIRST(item, list, holds) != NULL)

/* So many items, and an array of known length, as such a list. */
#define WC_ITEMS(items, count)                                                                     \
    ((struct {                                                                                     \
        const __typeof__((items)[0]) *p;                                                           \
        size_t n;                                                                                  \
    }){(items), (count)})
#define WC_ROWS(table) WC_ITEMS(table, sizeof(table) / sizeof(table)[0])
/* Through an array: WC_EACH_ROW(row, table) use(row); also where no table is relocated yet. */
#define WC_EACH_ROW(row, table)                                                                    \
    for (const __typeof__((table)[0]) *row = (table);                                              \
         row < (table) + sizeof(table) / sizeof(table)[0]; row++)

/* For qsort: which comes first; of several keys: WC_ORDER(...) ?: WC_ORDER(...). */
#define WC_ORDER(x, y) (((x) > (y)) - ((x) < (y)))
/* Such a function, of elements x and y: WC_COMPARE(by_size, struct file, WC_ORDER(x->n, y->n)); */
#define WC_COMPARE(name, type, order)                                                              \
    static int name(const void *a_, const void *b_) {                                              \
        const type *x = a_;                                                                        \
        const type *y = b_;                                                                        \
        return order;                                                                              \
    }                                                                                              \
    _Static_assert(sizeof(type) > 0, "what the semicolon after it ends")

/* Eight bytes at any address and of any type. */
typedef uint64_t __attribute__((aligned(1), may_alias)) wc_wide;

/* As their libc namesakes. */
void wc_mem_copy(void *to, const void *from, size_t n);
void wc_mem_move(void *to, const void *from, size_t n);
void wc_mem_set(void *to, int byte, size_t n);
int wc_mem_compare(const void *a, const void *b, size_t n);
size_t wc_str_length(const char *s);
int wc_str_compare(const char *a, const char *b);
const char *wc_str_find(const char *s, const char *part); /* NULL: not in s */
const char *wc_str_find_char(const char *s, char c);      /* NULL: not in s */
const char *wc_str_find_last_char(const char *s, char c); /* NULL: not in s */
#ifdef WC_WITH_LIBC /* in the command, which may call the faster ones */
#include <string.h>
#define wc_mem_copy(to, from, n) ((void)memcpy(to, from, n))
#define wc_mem_compare(a, b, n) memcmp(a, b, n)
#define wc_str_length(s) strlen(s)
#define wc_str_compare(a, b) strcmp(a, b)
#define wc_str_find(s, part) ((const char *)strstr(s, part))
#define wc_str_find_char(s, c) ((const char *)strchr(s, c))
#define wc_str_find_last_char(s, c) ((const char *)strrchr(s, c))
#endif
bool wc_str_starts(const char *s, const char *start);
bool wc_str_ends(const char *s, const char *end);
/* True when both are equal, or both NULL. */
bool wc_str_same(const char *a, const char *b);
static inline bool wc_is_digit(char c) {
    return c >= '0' && c <= '9';
}
static inline bool wc_is_alphanumeric(char c) {
    return wc_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/* NULL if s is empty. */
const char *wc_str_or_null(const char *s);
/* The part after the last '/', or the whole name; NULL of NULL. */
const char *wc_base_name(const char *path);
/* Length of the directory part without its last '/', 0 if there is none, 1 for "/". */
size_t wc_dir_length(const char *path);
/* False where one of them is NULL: a log may lack any of its words. */
bool wc_same_directory(const char *a, const char *b);
/* Length of the directory above path[0..n), without its last '/'; 0: path[0..n) is at the top. */
size_t wc_dir_above(const char *path, size_t n);

/* Decimal number at s[0..n); stops at the first other character. Returns the characters used
 * (0: no digit, or more than fits in 63 bits). */
size_t wc_parse_number(const char *s, size_t n, uint64_t *out);

/*
 * Goes through a list like LD_LIBRARY_PATH: WC_EACH_ELEMENT(e, list, ":") use(e.p, e.n); Elements
 * may be empty, the last one too; "" is one empty element, NULL has none. `separators` are one or
 * two characters.
 */
struct wc_element {
    const char *p; /* NULL: after the last */
    size_t n;
};
struct wc_element wc_element_at(const char *list, const char *separators);
#define WC_EACH_ELEMENT(e, list, separators)                                                       \
    for (struct wc_element e = wc_element_at(list, separators); e.p;                               \
         e = wc_element_at(e.p[e.n] ? e.p + e.n + 1 : NULL, separators))

/*
 * Text built into a fixed buffer. Always NUL-terminated; what does not fit is cut. cap must be at
 * least 1.
 */
struct wc_text {
    char *p;
    size_t cap, n;
    size_t cut; /* bytes that found no room */
};
void wc_text_begin(struct wc_text *t, char *buffer, size_t cap);
void wc_text_add(struct wc_text *t, const char *s); /* NULL adds nothing */
void wc_text_add_n(struct wc_text *t, const char *s, size_t n);
void wc_text_add_char(struct wc_text *t, char c);
/*
 * Adds what printf would print. It knows %s (NULL adds nothing), %.*s, %c, %%, and %d, %u, %x, each
 * also with l, ll, z or j; int64_t is %jd, uint64_t %ju or %jx. From any other conversion on, the
 * rest of the format is added unchanged.
 */
void wc_text_format(struct wc_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void wc_text_format_list(struct wc_text *t, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));
/* Copies s (NULL: ""), or a formatted text, into a buffer of cap bytes. False: it was cut. */
bool wc_str_copy(char *to, size_t cap, const char *s);
bool wc_str_format(char *to, size_t cap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Memory that only grows and is freed as a whole. The owner supplies `more`, which returns zeroed
 * memory of at least n bytes aligned to 16, or NULL if there is none: the caller then drops what it
 * wanted to keep, and counts or reports the loss.
 */
struct wc_arena {
    void *(*more)(void *owner, size_t n);
    void *owner;
};
void *wc_arena_take(struct wc_arena *a, size_t n);
char *wc_arena_string(struct wc_arena *a, const char *s);             /* NULL in, NULL out */
char *wc_arena_string_n(struct wc_arena *a, const char *s, size_t n); /* copies n bytes + NUL */
/* The whole text that wc_text_format would add; NULL: no memory. */
char *wc_arena_format(struct wc_arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *wc_arena_format_list(struct wc_arena *a, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));

/* An arena over one buffer of the caller. `used` may be reset to 0 to begin again. */
struct wc_buffer_arena {
    struct wc_arena arena;
    unsigned char *p;
    size_t cap, used;
};
void wc_buffer_arena_begin(struct wc_buffer_arena *b, void *buffer, size_t cap);
