/* SPDX-License-Identifier: Apache-2.0 */
/* core/names/version.c: numbers, texts and sets of versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/names/version.h"
#include "support_seed.h"

#define V(...) ((struct wc_version){__VA_ARGS__})

static int draw(int below) {
    return rand() % below;
}

static void assert_version(struct wc_version got, struct wc_version want) {
    char g[WC_VERSION_TEXT], w[WC_VERSION_TEXT];
    assert_string_equal(wc_version_format(got, g), wc_version_format(want, w));
    assert_memory_equal(&got, &want, sizeof got);
}

/* What is asked of a library and what its header says are the same numbers in both eras. */
static void every_number_a_release_can_have_comes_back(void **state) {
    (void)state;
    for (int major = 1; major <= 20; major++) {
        for (int minor = 0; minor < (major < 9 ? 10 : 100); minor++) {
            for (int patch = 0; patch < 100; patch++) {
                uint64_t number = (uint64_t)(major * (major < 9 ? 1000 : 10000));
                number += (uint64_t)(minor * 100 + patch);
                struct wc_version v = wc_version_from_number(number);
                assert_version(v, V(major, minor, patch, -1));
                assert_true(wc_version_to_number(v) == number);
            }
        }
    }
}

static void numbers_that_no_release_has_are_no_version(void **state) {
    (void)state;
    const uint64_t nonsense[] = {
        0,     1,     91,    999,     9000,       9100,       9999,
        10000, 51030, 89999, 1000000, UINT32_MAX, UINT64_MAX, (uint64_t)1 << 32};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        assert_version(wc_version_from_number(nonsense[i]), WC_VERSION_NONE);
    assert_version(wc_version_from_number(8999), V(8, 9, 99, -1));
    assert_version(wc_version_from_number(90000), V(9, 0, 0, -1));
    assert_version(wc_version_from_number(999999), V(99, 99, 99, -1));
}

static void a_version_that_no_number_holds_gives_0(void **state) {
    (void)state;
    assert_true(wc_version_to_number(WC_VERSION_NONE) == 0);
    assert_true(wc_version_to_number(V(0, 9, 1, -1)) == 0);
    assert_true(wc_version_to_number(V(8, 10, 0, -1)) == 0);
    assert_true(wc_version_to_number(V(8, 9, 100, -1)) == 0);
    assert_true(wc_version_to_number(V(9, 100, 0, -1)) == 0);
    assert_true(wc_version_to_number(V(INT32_MAX, INT32_MAX, INT32_MAX, -1)) == 0);
    assert_true(wc_version_to_number(V(8, -1, -1, -1)) == 8000);
    assert_true(wc_version_to_number(V(9, 10, -1, -1)) == 91000);
    assert_true(wc_version_to_number(V(9, 10, 2, 21)) == 91002);
    assert_true(wc_version_to_number(V(99, 99, 99, -1)) == 999999);
    assert_true(wc_version_to_number(V(100, 0, 0, -1)) == 0);
}

static void packed_versions_are_three_bytes(void **state) {
    (void)state;
    assert_version(wc_version_from_packed(0x00091300), V(9, 19, 0, -1));
    assert_version(wc_version_from_packed(0x00080907), V(8, 9, 7, -1));
    assert_version(wc_version_from_packed(0x0009ffff), V(9, 255, 255, -1));
    assert_version(wc_version_from_packed(0x00630001), V(99, 0, 1, -1));
    assert_version(wc_version_from_packed(0x00640001), WC_VERSION_NONE);
    assert_version(wc_version_from_packed(0), WC_VERSION_NONE);
    assert_version(wc_version_from_packed(0x00000102), WC_VERSION_NONE);
    assert_version(wc_version_from_packed(0x01091300), WC_VERSION_NONE);
    assert_version(wc_version_from_packed(UINT32_MAX), WC_VERSION_NONE);
}

static void text_comes_back_as_it_was(void **state) {
    (void)state;
    for (int round = 0; round < 4000; round++) {
        int32_t field[4] = {-1, -1, -1, -1};
        char want[WC_VERSION_TEXT] = "", got[WC_VERSION_TEXT];
        int fields = 1 + draw(4);
        for (int i = 0; i < fields; i++) {
            field[i] = draw(8) ? draw(300) : INT32_MAX - draw(2);
            sprintf(want + strlen(want), "%s%d", i ? "." : "", field[i]);
        }
        struct wc_version v = V(field[0], field[1], field[2], field[3]), back;
        assert_string_equal(wc_version_format(v, got), want);
        assert_true(wc_version_parse(got, strlen(got), &back));
        assert_version(back, v);
        assert_true(wc_version_known(back));
    }
}

static void what_is_not_a_version_is_refused_whole(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        ".",
        "9.",
        "9.1.",
        ".9",
        "9..1",
        "9.1.0.70.1",
        "v9",
        "9.1rc1",
        " 9.1",
        "9.1 ",
        "9,1",
        "-9",
        "+9",
        "9.-1",
        "9.x",
        "9.1+cu1",
        "abc",
        "2147483648",
        "9.99999999999999999999",
        "9.1.0.2147483648",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct wc_version v = V(1, 2, 3, 4);
        assert_false(wc_version_parse(texts[i], strlen(texts[i]), &v));
        assert_version(v, WC_VERSION_NONE);
    }
    struct wc_version v;
    assert_false(wc_version_parse("9.1\0.0", 6, &v));
    assert_true(wc_version_parse("9.1.0", 3, &v)); /* the length binds */
    assert_version(v, V(9, 1, -1, -1));
    assert_false(wc_version_parse("9.1.0", 4, &v));
}

static void a_version_is_found_before_its_suffix(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t used;
        struct wc_version v;
    } cases[] = {
        {"2.3.1+cu121", 5, {2, 3, 1, -1}},
        {"2.16.0rc1", 6, {2, 16, 0, -1}},
        {"1.0.0.dev20", 5, {1, 0, 0, -1}},
        {"9.1.dev1", 3, {9, 1, -1, -1}},
        {"0.4.11+cuda11.cudnn86", 6, {0, 4, 11, -1}},
        {"9.10.2.21", 9, {9, 10, 2, 21}},
        {"1.2.3.4.5", 7, {1, 2, 3, 4}},
        {"git-1a2b", 0, {-1, -1, -1, -1}},
        {"9999999999.1", 0, {-1, -1, -1, -1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wc_version v;
        const char *text = cases[i].text;
        assert_int_equal(wc_version_parse_start(text, strlen(text), &v), cases[i].used);
        assert_version(v, cases[i].v);
    }
}

static void nothing_behind_the_length_is_read(void **state) {
    (void)state;
    struct wc_version v;
    assert_int_equal(wc_version_parse_start("9.1.0", 4, &v), 3);
    assert_version(v, V(9, 1, -1, -1));
    assert_int_equal(wc_version_parse_start("9.12", 3, &v), 3);
    assert_version(v, V(9, 1, -1, -1));
    assert_int_equal(wc_version_parse_start("9", 0, &v), 0);
}

static void an_unknown_version_is_written_as_a_word(void **state) {
    (void)state;
    char out[WC_VERSION_TEXT];
    assert_string_equal(wc_version_format(WC_VERSION_NONE, out), "unknown");
    assert_string_equal(wc_version_format(V(-7, 1, 1, 1), out), "unknown");
    assert_string_equal(wc_version_format(V(9, -1, 5, 5), out), "9");
    assert_false(wc_version_known(WC_VERSION_NONE));
}

static struct wc_version draw_version(int least_fields) {
    int32_t field[4] = {-1, -1, -1, -1};
    int fields = least_fields + draw(5 - least_fields);
    for (int i = 0; i < fields; i++)
        field[i] = draw(3);
    return V(field[0], field[1], field[2], field[3]);
}

/* Base 4 keeps the order of fields that are all below 4. */
static int as_integer(struct wc_version v) {
    const int32_t field[] = {v.major, v.minor, v.patch, v.build};
    int value = 0;
    for (int i = 0; i < 4; i++)
        value = value * 4 + (field[i] > 0 ? field[i] : 0);
    return value;
}

static void comparing_counts_unknown_as_0_and_agreeing_ignores_it(void **state) {
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct wc_version a = draw_version(0), b = draw_version(0);
        int order = as_integer(a) - as_integer(b), got = wc_version_compare(a, b);
        assert_int_equal((got > 0) - (got < 0), (order > 0) - (order < 0));
        bool agree = true;
        const int32_t x[] = {a.major, a.minor, a.patch, a.build};
        const int32_t y[] = {b.major, b.minor, b.patch, b.build};
        for (int i = 0; i < 4; i++)
            agree = agree && (x[i] < 0 || y[i] < 0 || x[i] == y[i]);
        assert_int_equal(wc_version_agree(a, b), agree);
    }
}

static struct wc_spec spec_of(const char *text) {
    struct wc_spec spec;
    if (!wc_spec_read(text, &spec))
        fail_msg("not understood: \"%s\"", text);
    return spec;
}

static enum wc_answer ask(const char *text, struct wc_version v) {
    struct wc_spec spec = spec_of(text);
    return wc_spec_accepts(&spec, v);
}

static void a_set_without_clauses_accepts_everything(void **state) {
    (void)state;
    static const char *const empty[] = {"", " ", "()", " ( ) "};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        assert_int_equal(spec_of(empty[i]).n, 0);
        assert_int_equal(ask(empty[i], V(9, 1, 0, -1)), WC_YES);
        assert_int_equal(ask(empty[i], WC_VERSION_NONE), WC_YES);
    }
}

static void what_is_not_a_set_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        ",",          "9.1,",    ",9.1",
        ">=9.1,,<10", ">=9.*",   "~=9",
        "~=9.*",      "==*",     "*",
        "=9.1",       "=>9",     ">",
        "== ",        "!9",      "!=9.1+cu12",
        "9.1+cu12",   "9.1rc1",  ">=1,>=2,>=3,>=4,>=5,>=6,>=7,>=8,>=9",
        "9.1 9.2",    "(>=9",    "==9.1+",
        "==9.1..1",   ">=9)",    "==9.1.*.*",
        ">>9",        ">=9.1+é", "==9.1+*",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct wc_spec spec;
        if (wc_spec_read(texts[i], &spec))
            fail_msg("understood: \"%s\"", texts[i]);
        assert_int_equal(spec.n, 0);
    }
}

static void the_sets_of_real_wheels_are_understood(void **state) {
    (void)state;
    assert_int_equal(ask("==9.26.0.51", V(9, 26, 0, 51)), WC_YES);
    assert_int_equal(ask("==9.26.0.51", V(9, 26, 0, 50)), WC_NO);
    assert_int_equal(ask("==9.26.0.51", V(9, 1, 0, -1)), WC_NO);
    assert_int_equal(ask(" ==8.9.7.29 ", V(8, 9, 7, 29)), WC_YES);
    assert_int_equal(ask("(>=8.9.7.29)", V(8, 9, 7, 30)), WC_YES);
    assert_int_equal(ask("<10.0,>=9.8", V(9, 7, 9, 9)), WC_NO);
    assert_int_equal(ask("<10.0,>=9.8", V(9, 8, 0, -1)), WC_YES);
    assert_int_equal(ask("<10.0 , >= 9.8", V(10, 0, 0, -1)), WC_NO);
    assert_int_equal(ask("<10.0,>=9.3.0.75", V(9, 3, 0, 74)), WC_NO);
    assert_int_equal(ask("~=9.0", V(9, 28, 0, 51)), WC_YES);
    assert_int_equal(ask("~=9.0", V(10, 0, 0, -1)), WC_NO);
    assert_int_equal(ask("~=9.3.0", V(9, 4, 0, -1)), WC_NO);
    assert_int_equal(ask(">=9.10.1.4,<10.0a0", V(9, 10, 2, 21)), WC_YES);
    assert_int_equal(ask(">=9.10.1.4,<10.0a0", V(10, 0, 0, 0)), WC_NO);
    assert_int_equal(ask(">=9.10.0a0", V(9, 9, 0, 0)), WC_NO);
    assert_int_equal(ask("==9.10.2.21+ours", V(9, 10, 2, 21)), WC_YES);
    assert_int_equal(ask("==9.10.2.21+ours.1", V(9, 1, 0, -1)), WC_NO);
    assert_int_equal(ask(">=9.10rc1", V(9, 9, 0, -1)), WC_NO);
    assert_int_equal(ask("~=9.10.post1", V(9, 10, 2, -1)), WC_YES);
    assert_int_equal(ask("9.1", V(9, 1, 1, -1)), WC_YES);
    assert_int_equal(ask("9.1", V(9, 10, 1, -1)), WC_NO);
    assert_int_equal(ask("9.1.*", V(9, 1, 1, -1)), WC_YES);
    assert_int_equal(ask("!=9.10.*", V(9, 10, 2, -1)), WC_NO);
    assert_int_equal(ask("!=9.10.0", V(9, 10, 2, -1)), WC_YES);
    assert_int_equal(ask("===9.10.0", V(9, 10, 0, -1)), WC_YES);
    assert_int_equal(ask(">9.1.0", V(9, 1, 1, -1)), WC_YES);
    assert_int_equal(ask("<=9.3.0", V(9, 3, 1, -1)), WC_NO);
}

/* cuDNN does not emit the fourth field of its wheels. */
static void without_a_build_three_fields_are_compared(void **state) {
    (void)state;
    assert_int_equal(ask("==9.26.0.51", V(9, 26, 0, -1)), WC_YES);
    assert_int_equal(ask(">=9.3.0.75", V(9, 3, 0, -1)), WC_YES);
    assert_int_equal(ask("<=9.3.0.75", V(9, 3, 0, -1)), WC_YES);
    assert_int_equal(ask("<9.3.0.75", V(9, 3, 0, -1)), WC_NO);
    assert_int_equal(ask("==9.3.0.75.*", V(9, 3, 0, -1)), WC_YES);
    assert_int_equal(ask("~=9.3.0.75", V(9, 3, 1, -1)), WC_NO);
}

static void missing_fields_that_could_decide_leave_it_open(void **state) {
    (void)state;
    struct wc_version nine = V(9, -1, -1, -1), minor = V(9, 8, -1, -1);
    assert_int_equal(ask(">=9.8", nine), WC_UNKNOWN);
    assert_int_equal(ask(">=9.8,<9", nine), WC_NO);
    assert_int_equal(ask(">=9.0", nine), WC_YES);
    assert_int_equal(ask("<10,>=8.5", nine), WC_YES);
    assert_int_equal(ask("==9.*", nine), WC_YES);
    assert_int_equal(ask("==9.8.*", nine), WC_UNKNOWN);
    assert_int_equal(ask("==9.8.*", minor), WC_YES);
    assert_int_equal(ask("!=9.8.1", minor), WC_UNKNOWN);
    assert_int_equal(ask("==9.8.1", minor), WC_UNKNOWN);
    assert_int_equal(ask("==9.7.1", minor), WC_NO);
    assert_int_equal(ask(">9.8", WC_VERSION_NONE), WC_UNKNOWN);
}

/* One clause, one partly known version: what every version that it could be answers together. */
static void one_clause_answers_as_all_possible_versions_together(void **state) {
    (void)state;
    static const char *const signs[] = {"==", "!=", ">=", "<=", ">", "<", "~=", "===", ""};
    for (int round = 0; round < 3000; round++) {
        const char *sign = signs[draw(9)];
        struct wc_version limit = draw_version(2), v = draw_version(1);
        char text[80], number[WC_VERSION_TEXT];
        bool wild = (!strcmp(sign, "==") || !strcmp(sign, "!=")) && draw(2);
        v.build = -1;
        sprintf(text, "%s%s%s", sign, wc_version_format(limit, number), wild ? ".*" : "");
        bool yes = false, no = false;
        for (int minor = v.minor < 0 ? 0 : v.minor; minor <= (v.minor < 0 ? 4 : v.minor); minor++) {
            int least = v.patch < 0 ? 0 : v.patch, most = v.patch < 0 ? 4 : v.patch;
            for (int patch = least; patch <= most; patch++) {
                enum wc_answer one = ask(text, V(v.major, minor, patch, -1));
                assert_int_not_equal(one, WC_UNKNOWN);
                yes = yes || one == WC_YES;
                no = no || one == WC_NO;
            }
        }
        enum wc_answer want = yes && no ? WC_UNKNOWN : yes ? WC_YES : WC_NO;
        if (ask(text, v) != want)
            fail_msg("\"%s\" of %s", text, wc_version_format(v, number));
    }
}

static void the_floor_is_the_highest_lower_bound(void **state) {
    (void)state;
    static const struct {
        const char *spec, *floor;
    } cases[] = {
        {"", "unknown"},
        {"<10", "unknown"},
        {"!=9.1,<=9.3", "unknown"},
        {">=9.8,<10", "9.8"},
        {">=9.10,>=9.8", "9.10"},
        {">9.1.2.0", "9.1.2.1"},
        {">=9.8,>=9.10", "9.10"},
        {"==9.26.0.51", "9.26.0.51"},
        {"~=9.3", "9.3"},
        {"9.1", "9.1"},
        {">9.1", "9.1.1"},
        {">9.1.2", "9.1.3"},
        {">9.1.2.3", "9.1.2.4"},
        {">9", "9.0.1"},
        {"==8.*,>=8.5", "8.5"},
        {">2147483647.0.2147483647", "2147483647.0.2147483647"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[WC_VERSION_TEXT];
        struct wc_spec spec = spec_of(cases[i].spec);
        assert_string_equal(wc_version_format(wc_spec_floor(&spec), got), cases[i].floor);
    }
}

int main(void) {
    seed_draws();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_a_release_can_have_comes_back),
        cmocka_unit_test(numbers_that_no_release_has_are_no_version),
        cmocka_unit_test(a_version_that_no_number_holds_gives_0),
        cmocka_unit_test(packed_versions_are_three_bytes),
        cmocka_unit_test(text_comes_back_as_it_was),
        cmocka_unit_test(what_is_not_a_version_is_refused_whole),
        cmocka_unit_test(a_version_is_found_before_its_suffix),
        cmocka_unit_test(nothing_behind_the_length_is_read),
        cmocka_unit_test(an_unknown_version_is_written_as_a_word),
        cmocka_unit_test(comparing_counts_unknown_as_0_and_agreeing_ignores_it),
        cmocka_unit_test(a_set_without_clauses_accepts_everything),
        cmocka_unit_test(what_is_not_a_set_is_refused),
        cmocka_unit_test(the_sets_of_real_wheels_are_understood),
        cmocka_unit_test(without_a_build_three_fields_are_compared),
        cmocka_unit_test(missing_fields_that_could_decide_leave_it_open),
        cmocka_unit_test(one_clause_answers_as_all_possible_versions_together),
        cmocka_unit_test(the_floor_is_the_highest_lower_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
