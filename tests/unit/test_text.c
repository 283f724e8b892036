/* SPDX-License-Identifier: Apache-2.0 */
/* core/base/text.c against libc and against its own promises, on drawn input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "support_seed.h"

enum { MOST = 96, CANARY = 0xa5, ROUNDS = 4000 };

static unsigned draw(unsigned below) {
    return (unsigned)rand() % below;
}

static void fill(unsigned char *p, size_t n) {
    while (n--)
        *p++ = (unsigned char)draw(256);
}

/* Few letters, so that parts are found and strings are often equal. */
static void draw_string(char *s, size_t cap) {
    size_t n = draw((unsigned)cap);
    for (size_t i = 0; i < n; i++)
        s[i] = "ab/\xff"[draw(4)];
    s[n] = '\0';
}

static int sign(int v) {
    return (v > 0) - (v < 0);
}

static void copy_and_set_touch_only_their_bytes(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char from[MOST], to[MOST], want[MOST];
        size_t n = draw(MOST / 2), at = draw(MOST / 2), source = draw(MOST / 2);
        fill(from, sizeof from);
        memset(to, CANARY, sizeof to);
        memcpy(want, to, sizeof want);
        memcpy(want + at, from + source, n);
        wc_mem_copy(to + at, from + source, n);
        assert_memory_equal(to, want, sizeof to);

        memset(to, CANARY, sizeof to);
        memset(want, CANARY, sizeof want);
        memset(want + at, from[0] - 256, n);
        wc_mem_set(to + at, from[0] - 256, n);
        assert_memory_equal(to, want, sizeof to);
    }
}

static void move_handles_every_overlap(void **state) {
    (void)state;
    for (size_t from = 0; from < 24; from++) {
        for (size_t to = 0; to < 24; to++) {
            for (size_t n = 0; n < 40; n++) {
                unsigned char got[64], want[64];
                fill(got, sizeof got);
                memcpy(want, got, sizeof got);
                memmove(want + to, want + from, n);
                wc_mem_move(got + to, got + from, n);
                assert_memory_equal(got, want, sizeof got);
            }
        }
    }
}

static void comparing_memory_agrees_with_libc(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char a[MOST], b[MOST];
        size_t n = draw(MOST);
        fill(a, sizeof a);
        memcpy(b, a, sizeof b);
        if (n && draw(4))
            b[draw((unsigned)n)] = (unsigned char)draw(256);
        assert_int_equal(sign(wc_mem_compare(a, b, n)), sign(memcmp(a, b, n)));
    }
}

static void string_functions_agree_with_libc(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        char s[24], part[5];
        draw_string(s, sizeof s);
        draw_string(part, sizeof part);
        char c = "ab/\xff\0"[draw(5)];
        size_t n = strlen(s), m = strlen(part);
        assert_int_equal(wc_str_length(s), n);
        assert_int_equal(sign(wc_str_compare(s, part)), sign(strcmp(s, part)));
        assert_ptr_equal(wc_str_find(s, part), strstr(s, part));
        assert_ptr_equal(wc_str_find_char(s, c), strchr(s, c));
        assert_ptr_equal(wc_str_find_last_char(s, c), strrchr(s, c));
        assert_int_equal(wc_str_starts(s, part), strncmp(s, part, m) == 0);
        assert_int_equal(wc_str_ends(s, part), n >= m && strcmp(s + n - m, part) == 0);
        assert_int_equal(wc_str_same(s, part), strcmp(s, part) == 0);
    }
}

static void nothing_is_the_same_as_nothing_alone(void **state) {
    (void)state;
    assert_true(wc_str_same(NULL, NULL));
    assert_false(wc_str_same(NULL, ""));
    assert_false(wc_str_same("", NULL));
}

static void a_path_is_split_at_its_last_slash(void **state) {
    (void)state;
    static const struct {
        const char *path, *base;
        size_t dir;
    } cases[] = {
        {"", "", 0},       {"a", "a", 0},         {"/", "", 1},    {"/a", "a", 1},
        {"a/", "", 1},     {"/a/b", "b", 2},      {"a/b", "b", 1}, {"//", "", 1},
        {"/a//b", "b", 3}, {"/a/b/../c", "c", 7}, {"./x", "x", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(wc_base_name(cases[i].path), cases[i].base);
        assert_int_equal(wc_dir_length(cases[i].path), cases[i].dir);
    }
    assert_null(wc_base_name(NULL));
    assert_true(wc_same_directory("/a/b", "/a/c") && !wc_same_directory("/a/b", "/b/b"));
    assert_false(wc_same_directory(NULL, "a") || wc_same_directory("a", NULL));
}

static void numbers_are_read_up_to_63_bits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t used;
        uint64_t value;
    } cases[] = {
        {"", 0, 0},
        {"x1", 0, 0},
        {"-1", 0, 0},
        {" 1", 0, 0},
        {"0", 1, 0},
        {"007.", 3, 7},
        {"12ab", 2, 12},
        {"9223372036854775807", 19, INT64_MAX},
        {"9223372036854775808", 0, 0},
        {"18446744073709551616", 0, 0},
        {"99999999999999999999999999999999999999", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t v = 42;
        size_t n = strlen(cases[i].text);
        assert_int_equal(wc_parse_number(cases[i].text, n, &v), cases[i].used);
        assert_true(v == (cases[i].used ? cases[i].value : 42));
    }
    uint64_t v = 0;
    assert_int_equal(wc_parse_number("1234", 2, &v), 2); /* the length binds, not the NUL */
    assert_int_equal(v, 12);
}

static void text_is_cut_at_its_capacity_and_says_so(void **state) {
    (void)state;
    for (size_t cap = 1; cap < 40; cap++) {
        char want[160] = "", buffer[64];
        struct wc_text t;
        memset(buffer, CANARY, sizeof buffer);
        wc_text_begin(&t, buffer, cap);
        for (int i = 0; i < 8; i++) {
            char piece[8];
            draw_string(piece, sizeof piece);
            strcat(want, piece);
            if (i % 2)
                wc_text_add(&t, piece);
            else
                wc_text_add_n(&t, piece, strlen(piece));
            assert_int_equal(t.n, strlen(want) < cap ? strlen(want) : cap - 1);
            assert_int_equal(t.n + t.cut, strlen(want));
            assert_memory_equal(buffer, want, t.n);
            assert_int_equal(buffer[t.n], 0);
        }
        assert_int_equal((unsigned char)buffer[cap], CANARY);
    }
}

static void numbers_are_written_as_printf_does(void **state) {
    (void)state;
    static const int64_t edges[] = {0, 1, -1, 9, 10, -10, INT32_MIN, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof edges / sizeof *edges + 500; i++) {
        size_t count = sizeof edges / sizeof *edges;
        int64_t v = i < count ? edges[i] : (int64_t)(((uint64_t)rand() << 33) ^ (uint64_t)rand());
        char want[64], got[64];
        struct wc_text t;
        snprintf(want, sizeof want, "%lld %llx", (long long)v, (unsigned long long)v);
        wc_text_begin(&t, got, sizeof got);
        wc_text_format(&t, "%jd", v);
        wc_text_add_char(&t, ' ');
        wc_text_format(&t, "%jx", (uint64_t)v);
        assert_string_equal(got, want);
        assert_false(t.cut);
    }
}

/* The same call through both formatters; every argument is used once. */
#define AS_PRINTF(...)                                                                             \
    do {                                                                                           \
        char want_[256], got_[256];                                                                \
        struct wc_text t_;                                                                         \
        snprintf(want_, sizeof want_, __VA_ARGS__);                                                \
        wc_text_begin(&t_, got_, sizeof got_);                                                     \
        wc_text_format(&t_, __VA_ARGS__);                                                          \
        assert_string_equal(got_, want_);                                                          \
    } while (0)

static void formats_are_those_of_printf(void **state) {
    (void)state;
    char unended[3] = {'a', 'b', 'c'};
    AS_PRINTF("%s", "");
    AS_PRINTF("plain");
    AS_PRINTF("100%% of %s and %s%c", "a", "bc", '!');
    AS_PRINTF("%.*s|%.*s|%.*s|%.*s", 2, "abc", 0, "abc", 9, "abc", -1, "abc");
    AS_PRINTF("%.*s", 3, unended);
    AS_PRINTF("%d %d %u %x", INT32_MIN, INT32_MAX, UINT32_MAX, UINT32_MAX);
    AS_PRINTF("%jd %ju %jx", INT64_MIN, UINT64_MAX, UINT64_MAX);
    AS_PRINTF("%ld %lld %zu %llx %lu", -1L, -2LL, (size_t)3, 0xABCDEFULL, ~0UL);
    AS_PRINTF("%d%s%d%s%d%s%d%s", 1, "two", 3, "four", 5, "six", 7, "eight"); /* past registers */
}

static void a_null_string_adds_nothing(void **state) {
    (void)state;
    char buffer[16];
    const char *volatile none = NULL; /* the compiler warns of one that it sees */
    struct wc_text t;
    wc_text_begin(&t, buffer, sizeof buffer);
    wc_text_format(&t, "a%sb%.*sc", none, 4, none);
    wc_text_add(&t, NULL);
    assert_string_equal(buffer, "abc");
}

static void an_unknown_conversion_and_what_follows_stand_as_they_are(void **state) {
    (void)state;
    static const char *const tails[] = {"%",   "%q %s", "%5d", "%-s %d",   "%.2s",
                                        "%ls", "%lc",   "%p",  "%lld %hd", "%f",
                                        "%n",  "%l",    "%l%", "%.*d",     "%LF"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        const char *volatile format = tails[i]; /* the compiler would refuse it */
        char buffer[32], want[32];
        struct wc_text t;
        bool number = strncmp(tails[i], "%lld", 4) == 0;
        snprintf(want, sizeof want, "%s%s", number ? "7" : "", tails[i] + (number ? 4 : 0));
        wc_text_begin(&t, buffer, sizeof buffer);
        wc_text_format(&t, format, 7LL);
        assert_string_equal(buffer, want);
    }
}

static void an_arena_formats_whole(void **state) {
    (void)state;
    char memory[256], want[200];
    struct wc_buffer_arena b;
    wc_buffer_arena_begin(&b, memory, sizeof memory);
    memset(want, 'x', sizeof want);
    want[sizeof want - 1] = '\0';
    want[0] = '7';
    assert_string_equal(wc_arena_format(&b.arena, "%d%s", 7, want + 1), want);
    assert_null(wc_arena_format(&b.arena, "%s", want));
    b.used = 0;
    assert_string_equal(wc_arena_format(&b.arena, "%s/%jd", "a", (int64_t)-1), "a/-1");
    assert_string_equal(wc_arena_format(&b.arena, "%s", ""), "");
}

static void an_arena_gives_zeroed_aligned_memory_until_it_is_full(void **state) {
    (void)state;
    for (size_t shift = 0; shift < 17; shift++) {
        unsigned char buffer[512], *end = buffer + sizeof buffer - shift;
        struct wc_buffer_arena b;
        memset(buffer, CANARY, sizeof buffer);
        wc_buffer_arena_begin(&b, buffer + shift, sizeof buffer - shift);
        for (int pass = 0; pass < 2; pass++) {
            unsigned char *p, *last = NULL;
            size_t n;
            while ((p = wc_arena_take(&b.arena, n = draw(40)))) {
                assert_int_equal((uintptr_t)p % 16, 0);
                assert_true(p >= buffer + shift && p + n <= end + shift);
                assert_true(!last || p > last);
                for (size_t i = 0; i < n; i++)
                    assert_int_equal(p[i], 0);
                memset(p, CANARY, n);
                last = p;
            }
            assert_true(b.cap - b.used < 40 + 16);
            b.used = 0;
        }
        assert_null(wc_arena_take(&b.arena, SIZE_MAX));
        assert_null(wc_arena_take(&b.arena, SIZE_MAX - 15));
        b.used = b.cap + 1; /* a caller's mistake must not become a write behind the buffer */
        assert_null(wc_arena_take(&b.arena, 1));
    }
}

static void an_arena_copies_strings(void **state) {
    (void)state;
    char buffer[64];
    const char *path = "/usr/lib/libcudnn.so.9";
    struct wc_buffer_arena b;
    wc_buffer_arena_begin(&b, buffer, sizeof buffer);
    assert_null(wc_arena_string(&b.arena, NULL));
    assert_null(wc_arena_string_n(&b.arena, NULL, 3));
    assert_null(wc_arena_string_n(&b.arena, path, SIZE_MAX));
    char *copy = wc_arena_string(&b.arena, path);
    assert_ptr_not_equal(copy, path);
    assert_string_equal(copy, path);
    assert_string_equal(wc_arena_string_n(&b.arena, path, 4), "/usr");
    assert_null(wc_arena_string(&b.arena, path));
}

static void *more_of_dirt(void *owner, size_t n) {
    static char dirt[64];
    (void)owner;
    return n <= sizeof dirt ? memset(dirt, 'x', sizeof dirt) : NULL;
}

static void a_copied_string_ends_wherever_it_lies(void **state) {
    (void)state;
    struct wc_arena dirty = {more_of_dirt, NULL};
    assert_string_equal(wc_arena_string_n(&dirty, "abcdef", 3), "abc");
    assert_string_equal(wc_arena_string(&dirty, ""), "");
}

static void an_arena_is_used_to_its_last_byte(void **state) {
    (void)state;
    _Alignas(16) char buffer[17];
    struct wc_buffer_arena b;
    wc_buffer_arena_begin(&b, buffer, 16);
    buffer[16] = 'x';
    assert_ptr_equal(wc_arena_string(&b.arena, "fifteen letters"), buffer);
    assert_int_equal(b.used, 16);
    assert_int_equal(buffer[16], 'x');
    wc_buffer_arena_begin(&b, buffer, 15);
    assert_null(wc_arena_string(&b.arena, "fifteen letters"));
}

int main(void) {
    seed_draws();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_and_set_touch_only_their_bytes),
        cmocka_unit_test(move_handles_every_overlap),
        cmocka_unit_test(comparing_memory_agrees_with_libc),
        cmocka_unit_test(string_functions_agree_with_libc),
        cmocka_unit_test(nothing_is_the_same_as_nothing_alone),
        cmocka_unit_test(a_path_is_split_at_its_last_slash),
        cmocka_unit_test(numbers_are_read_up_to_63_bits),
        cmocka_unit_test(text_is_cut_at_its_capacity_and_says_so),
        cmocka_unit_test(numbers_are_written_as_printf_does),
        cmocka_unit_test(formats_are_those_of_printf),
        cmocka_unit_test(a_null_string_adds_nothing),
        cmocka_unit_test(an_unknown_conversion_and_what_follows_stand_as_they_are),
        cmocka_unit_test(an_arena_formats_whole),
        cmocka_unit_test(an_arena_gives_zeroed_aligned_memory_until_it_is_full),
        cmocka_unit_test(an_arena_copies_strings),
        cmocka_unit_test(a_copied_string_ends_wherever_it_lies),
        cmocka_unit_test(an_arena_is_used_to_its_last_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
