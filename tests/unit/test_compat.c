/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/names/compat.c: which rule a framework has, and what is true of every rule. The
 * verdicts themselves are compared with an independent oracle (tests/e2e/compat_oracle.bats).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/knowledge/frameworks.h"
#include "core/names/compat.h"

#define V(...) ((struct wc_version){__VA_ARGS__})

static struct wc_version version(const char *text) {
    struct wc_version v;
    wc_version_parse(text, strlen(text), &v);
    return v;
}

static void every_rule_has_a_name_and_a_sentence(void **state) {
    (void)state;
    for (enum wc_rule r = WC_RULE_NONE + 1; r < WC_RULE_COUNT; r++) {
        const char *name = wc_rule_name(r), *what = wc_rule_explanation(r);
        assert_true(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name));
        assert_int_equal(wc_rule_from_name(name), r);
        assert_int_equal(what[strlen(what) - 1], '.');
        assert_null(strchr(what, '\n'));
    }
}

static void rules_of_frameworks_are_known(void **state) {
    (void)state;
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->rules, name)
            assert_int_not_equal(wc_rule_from_name(row->name), WC_RULE_NONE);
}

static void what_is_no_rule_is_none(void **state) {
    (void)state;
    assert_int_equal(wc_rule_from_name(NULL), WC_RULE_NONE);
    assert_int_equal(wc_rule_from_name(""), WC_RULE_NONE);
    assert_int_equal(wc_rule_from_name("Torch"), WC_RULE_NONE);
    assert_int_equal(wc_rule_from_name(wc_rule_name(WC_RULE_NONE)), WC_RULE_NONE);
    assert_string_equal(wc_rule_name(WC_RULE_NONE), "none");
    assert_string_equal(wc_rule_name(WC_RULE_COUNT), "none");
    assert_non_null(wc_rule_explanation((enum wc_rule)1000));
    struct wc_version v = V(9, 1, 0, -1);
    assert_int_equal(wc_rule_check(WC_RULE_NONE, v, v), WC_FIT_UNKNOWN);
    assert_int_equal(wc_rule_check((enum wc_rule)1000, v, v), WC_FIT_UNKNOWN);
}

static void a_framework_has_the_rule_of_its_era(void **state) {
    (void)state;
    static const struct {
        const char *framework, *version, *rule;
    } cases[] = {
        {"tensorflow", "0.8.0", "tensorflow-compatibility-number"},
        {"tensorflow", "1.5.1", "tensorflow-compatibility-number"},
        {"tensorflow", "1.6.0", "tensorflow"},
        {"tensorflow", "1.15.5", "tensorflow"},
        {"tensorflow", "2.3.4", "tensorflow"},
        {"tensorflow", "2.4.0", "xla"},
        {"tensorflow", "2.21.0", "xla"},
        {"torch", "0.1.12", "nvidia"},
        {"torch", "0.4.1", "torch-same-minor"},
        {"torch", "1.0.0", "torch"},
        {"torch", "2.15.0", "torch"},
        {"jax", "0.10.2", "xla"},
        {"jaxlib", "0.4.11", "xla"},
        {"paddle", "2.6.2", "paddle-minor"},
        {"paddle", "3.0.0", "paddle"},
        {"mxnet", "1.5.1", "exact"},
        {"mxnet", "1.6.0", "mxnet-warning"},
        {"opencv", "4.3.0", "nvidia"},
        {"opencv", "4.5.5", "opencv-exact"},
        {"opencv", "4.8.0", "nvidia"},
        {"opencv", "4.10.0", "opencv"},
        {"onnxruntime", "1.31.1", "nvidia"},
        {"cupy", "7.8.0", "nvidia"},
        {"nobody", "1.0", "nvidia"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum wc_rule r = wc_rule_of_framework(cases[i].framework, version(cases[i].version));
        assert_string_equal(wc_rule_name(r), cases[i].rule);
    }
}

static void an_unknown_version_has_a_rule_only_where_all_agree(void **state) {
    (void)state;
    assert_int_equal(wc_rule_of_framework(NULL, V(1, 0, 0, -1)), WC_RULE_NVIDIA);
    assert_int_equal(wc_rule_of_framework("torch", WC_VERSION_NONE), WC_RULE_NVIDIA);
    assert_int_equal(wc_rule_of_framework("tensorflow", WC_VERSION_NONE), WC_RULE_NVIDIA);
    assert_int_equal(wc_rule_of_framework("mxnet", WC_VERSION_NONE), WC_RULE_NVIDIA);
    /* 1 is before and behind 1.6, 2 behind it and on both sides of 2.4, 3 behind both. */
    assert_int_equal(wc_rule_of_framework("tensorflow", V(1, -1, -1, -1)), WC_RULE_NVIDIA);
    assert_int_equal(wc_rule_of_framework("tensorflow", V(2, -1, -1, -1)), WC_RULE_NVIDIA);
    assert_int_equal(wc_rule_of_framework("tensorflow", V(3, -1, -1, -1)), WC_RULE_XLA);
    assert_int_equal(wc_rule_of_framework("tensorflow", V(0, -1, -1, -1)),
                     WC_RULE_TENSORFLOW_COMPATIBILITY);
}

static void a_version_fits_itself_and_none_fits_nothing(void **state) {
    (void)state;
    for (enum wc_rule r = WC_RULE_NONE + 1; r < WC_RULE_COUNT; r++) {
        for (int major = 4; major <= 9; major++) {
            struct wc_version v = V(major, 3, 2, -1);
            assert_int_equal(wc_rule_check(r, v, v), WC_FITS);
            assert_int_equal(wc_rule_check(r, v, WC_VERSION_NONE), WC_FIT_UNKNOWN);
            assert_int_equal(wc_rule_check(r, WC_VERSION_NONE, v), WC_FIT_UNKNOWN);
        }
    }
}

/* Also where a framework compares whole numbers, as Paddle and JAX do, and lets a newer one pass.
 */
static void another_major_fits_no_rule(void **state) {
    (void)state;
    for (enum wc_rule r = WC_RULE_NONE + 1; r < WC_RULE_COUNT; r++) {
        for (int built = 4; built <= 9; built++) {
            for (int runtime = 4; runtime <= 9; runtime++) {
                enum wc_fit fit = wc_rule_check(r, V(built, 1, 2, -1), V(runtime, 1, 2, -1));
                assert_int_equal(fit, built == runtime ? WC_FITS : WC_OTHER_MAJOR);
            }
        }
    }
}

/* What core/knowledge/rules.def says in words: "rule", built, runtime, answer. */
static void each_rule_is_what_its_sentence_says(void **state) {
    static const struct {
        const char *rule, *built, *runtime;
        enum wc_fit fit;
    } cases[] = {
        {"nvidia", "9.1.0", "9.1.7", WC_FITS},
        {"nvidia", "9.1.7", "9.1.0", WC_FITS},
        {"nvidia", "9.1.0", "9.2.0", WC_FITS},
        {"nvidia", "9.2.0", "9.1.9", WC_TOO_OLD},
        {"nvidia", "6.0.1", "6.0.2", WC_FIT_UNKNOWN},
        {"expected", "5.1.3", "5.0.5", WC_TOO_OLD},
        {"expected", "5.1.3", "5.1.2", WC_FITS},
        {"expected", "5.1.3", "6.0.21", WC_OTHER_MAJOR},
        {"expected", "9.1.0", "9.8.0", WC_FITS},
        {"series", "9.8.0", "9.8.2", WC_FITS},
        {"series", "9.8.0", "9.10.2", WC_TOO_NEW},
        {"tensorflow-compatibility-number", "5.1.3", "5.1.10", WC_FITS},
        {"tensorflow-compatibility-number", "5.1.10", "5.1.3", WC_FITS},
        {"tensorflow-compatibility-number", "5.1.3", "5.0.5", WC_TOO_OLD},
        {"tensorflow-compatibility-number", "7.0.5", "7.1.2", WC_TOO_NEW},
        {"tensorflow", "6.0.2", "6.1.0", WC_TOO_NEW},
        {"tensorflow", "7.0.2", "7.1.0", WC_FITS},
        {"tensorflow", "7.1.0", "7.0.9", WC_TOO_OLD},
        {"tensorflow", "7.1.4", "7.1.0", WC_FITS},
        {"xla", "8.6.0", "8.9.7", WC_FITS},
        {"xla", "8.9.7", "8.9.0", WC_FITS},
        {"xla", "8.9.0", "8.6.9", WC_TOO_OLD},
        {"torch-same-minor", "7.0.3", "7.0.5", WC_FITS},
        {"torch-same-minor", "7.0.3", "7.1.3", WC_TOO_NEW},
        {"torch", "6.0.1", "6.0.9", WC_FITS},
        {"torch", "6.0.1", "6.1.0", WC_TOO_NEW},
        {"torch", "8.5.0", "8.7.0", WC_FITS},
        {"torch", "8.7.0", "8.5.0", WC_TOO_OLD},
        {"paddle-minor", "8.2.1", "8.2.0", WC_FITS},
        {"paddle-minor", "8.2.1", "8.1.9", WC_TOO_OLD},
        {"paddle-minor", "8.2.1", "8.3.0", WC_FITS},
        {"paddle-minor", "8.2.1", "9.0.0", WC_OTHER_MAJOR},
        {"paddle", "8.2.1", "8.2.0", WC_TOO_OLD},
        {"paddle", "8.2.1", "8.2.2", WC_FITS},
        {"paddle", "8.2.1", "8.3.0", WC_FITS},
        {"paddle", "8.2.1", "9.3.0", WC_OTHER_MAJOR},
        {"exact", "8.2.1", "8.2.1", WC_FITS},
        {"exact", "8.2.1", "8.2.2", WC_TOO_NEW},
        {"exact", "8.2.1", "8.2.0", WC_TOO_OLD},
        {"mxnet-warning", "8.2.1", "8.2.0", WC_TOO_OLD},
        {"opencv-exact", "8.2.1", "8.2.2", WC_TOO_NEW},
        {"opencv", "8.2.1", "8.3.0", WC_FITS},
        {"opencv", "8.2.1", "8.2.0", WC_FITS},
        {"opencv", "8.2.1", "8.1.0", WC_TOO_OLD},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("# %s: %s, %s\n", cases[i].rule, cases[i].built, cases[i].runtime);
        assert_int_equal(wc_rule_check(wc_rule_from_name(cases[i].rule), version(cases[i].built),
                                       version(cases[i].runtime)),
                         cases[i].fit);
    }
}

static void the_compatibility_number_drops_the_patch(void **state) {
    (void)state;
    assert_true(wc_compatibility_number(V(5, 1, 3, -1)) == 5100);
    assert_true(wc_compatibility_number(V(5, 0, 5, -1)) == 5000);
    assert_true(wc_compatibility_number(V(9, 10, 2, 21)) == 91000);
    assert_true(wc_compatibility_number(WC_VERSION_NONE) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_a_name_and_a_sentence),
        cmocka_unit_test(rules_of_frameworks_are_known),
        cmocka_unit_test(what_is_no_rule_is_none),
        cmocka_unit_test(a_framework_has_the_rule_of_its_era),
        cmocka_unit_test(an_unknown_version_has_a_rule_only_where_all_agree),
        cmocka_unit_test(a_version_fits_itself_and_none_fits_nothing),
        cmocka_unit_test(another_major_fits_no_rule),
        cmocka_unit_test(each_rule_is_what_its_sentence_says),
        cmocka_unit_test(the_compatibility_number_drops_the_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
