/* SPDX-License-Identifier: Apache-2.0 */
/* What watched.def counts is what its prototypes have: a wrapper copies no other arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shim/watched.h"

static const struct row_text {
    const char *name, *parameters;
    int integers, doubles;
} rows[] = {
#define WATCH(name, result, parameters, integers, doubles, first, last)                            \
    {#name, #parameters, integers, doubles},
#include "shim/watched.def"
};

static int count(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what))) {
        text += strlen(what);
        n++;
    }
    return n;
}

static void each_row_counts_its_arguments(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row_text *r = &rows[i];
        int whole = strcmp(r->parameters, "(void)") == 0 ? 0 : count(r->parameters, ",") + 1;
        if (r->integers + r->doubles != whole || r->doubles != count(r->parameters, "double ") ||
            count(r->parameters, "(") != 1 || strstr(r->parameters, "float ") ||
            strstr(r->parameters, "struct ") || strstr(r->parameters, "..."))
            fail_msg("%s%s: %d integers, %d doubles", r->name, r->parameters, r->integers,
                     r->doubles);
    }
}

/* Each instance has one wrapper, and no other address is one. */
static void wrappers_lead_back(void **state) {
    (void)state;
    uintptr_t before = 0;
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < CALL_INSTANCES; k++) {
            uintptr_t wrapper = watched_wrapper_of(&instances[row][k]);
            assert_true(wrapper > before);
            assert_ptr_equal(watched_instance_at(wrapper), &instances[row][k]);
            assert_null(watched_instance_at(wrapper + 1));
            assert_int_equal(watched_row_of(&instances[row][k]), row);
            before = wrapper;
        }
    uintptr_t first = watched_wrapper_of(&instances[0][0]);
    uintptr_t size = watched_wrapper_of(&instances[0][1]) - first;
    assert_null(watched_instance_at(first - size));
    assert_null(watched_instance_at(before + size));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_counts_its_arguments),
        cmocka_unit_test(wrappers_lead_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
