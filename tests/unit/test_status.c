/* SPDX-License-Identifier: Apache-2.0 */
/* core/model/status.c: names and sorts of cudnnStatus_t by era. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/status.h"

static void assert_named(int64_t status, int major, const char *name) {
    const char *found = wc_status_name(status, major);
    assert_non_null(found);
    assert_string_equal(found, name);
}

/* The rows of NVIDIA's headers that mismatches show themselves by. */
static void values_changed_with_nine(void **state) {
    (void)state;
    for (int major = 1; major <= 12; major++) {
        assert_named(0, major, "CUDNN_STATUS_SUCCESS");
        bool old = major < 9;
        assert_named(old ? 1 : 1001, major, "CUDNN_STATUS_NOT_INITIALIZED");
        assert_named(old ? 3 : 2000, major, "CUDNN_STATUS_BAD_PARAM");
        assert_named(old ? 4 : 4000, major, "CUDNN_STATUS_INTERNAL_ERROR");
        assert_named(old ? 8 : 5000, major, "CUDNN_STATUS_EXECUTION_FAILED");
        assert_named(old ? 9 : 3000, major, "CUDNN_STATUS_NOT_SUPPORTED");
        assert_named(old ? 10 : 1005, major, "CUDNN_STATUS_LICENSE_ERROR");
        assert_null(wc_status_name(old ? 1001 : 1, major));
    }
    assert_named(1002, 9, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH");
    assert_named(1008, 9, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED");
    assert_named(3009, 9, "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE");
    assert_named(4003, 9, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED");
}

static void later_values_are_unknown_to_older_majors(void **state) {
    (void)state;
    assert_null(wc_status_name(11, 5));
    assert_named(11, 6, "CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING");
    assert_null(wc_status_name(12, 6));
    assert_named(12, 7, "CUDNN_STATUS_RUNTIME_IN_PROGRESS");
    assert_null(wc_status_name(14, 7));
    assert_named(14, 8, "CUDNN_STATUS_VERSION_MISMATCH");
    assert_null(wc_status_name(15, 8));
    assert_null(wc_status_name(1000, 9));
    assert_null(wc_status_name(-1, 9));
    assert_null(wc_status_name(INT64_MIN, -1));
    assert_null(wc_status_name(INT64_C(1) << 32, 9)); /* not 0 */
}

/* No value below 1000 is cuDNN 9's, and the older majors agree: no major is needed. */
static void one_without_its_major_has_the_name_of_all(void **state) {
    (void)state;
    for (int64_t status = -2; status < 6000; status++) {
        const char *alone = wc_status_name(status, -1);
        for (int major = 1; major <= 9; major++) {
            const char *named = wc_status_name(status, major);
            if (named) {
                assert_non_null(alone);
                assert_string_equal(named, alone);
                assert_int_equal(wc_status_sort(status, major), wc_status_sort(status, -1));
            }
        }
    }
}

static void names_are_unique_in_an_era(void **state) {
    (void)state;
    for (int major = 4; major <= 9; major++)
        for (int64_t a = 0; a < 6000; a++)
            for (int64_t b = a + 1; wc_status_name(a, major) && b < 6000; b++)
                if (wc_status_name(b, major))
                    assert_string_not_equal(wc_status_name(a, major), wc_status_name(b, major));
}

static void sorts_tell_failures_from_answers(void **state) {
    (void)state;
    assert_int_equal(wc_status_sort(0, 9), WC_STATUS_SUCCESS);
    assert_int_equal(wc_status_sort(1, 7), WC_STATUS_NOT_INITIALIZED);
    assert_int_equal(wc_status_sort(1001, 9), WC_STATUS_NOT_INITIALIZED);
    assert_int_equal(wc_status_sort(9, 8), WC_STATUS_ANSWER);
    assert_int_equal(wc_status_sort(3001, 9), WC_STATUS_ANSWER);
    assert_int_equal(wc_status_sort(14, 8), WC_STATUS_VERSIONS_DIFFER);
    assert_int_equal(wc_status_sort(1002, 9), WC_STATUS_VERSIONS_DIFFER);
    assert_int_equal(wc_status_sort(1008, 9), WC_STATUS_PART_UNAVAILABLE);
    assert_int_equal(wc_status_sort(3009, 9), WC_STATUS_PART_UNAVAILABLE);
    assert_int_equal(wc_status_sort(3005, 9), WC_STATUS_FAILURE);
    assert_int_equal(wc_status_sort(5003, 9), WC_STATUS_FAILURE);
    assert_int_equal(wc_status_sort(1, 9), WC_STATUS_UNLISTED);
    assert_int_equal(wc_status_sort(-7, -1), WC_STATUS_UNLISTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_changed_with_nine),
        cmocka_unit_test(later_values_are_unknown_to_older_majors),
        cmocka_unit_test(one_without_its_major_has_the_name_of_all),
        cmocka_unit_test(names_are_unique_in_an_era),
        cmocka_unit_test(sorts_tell_failures_from_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
