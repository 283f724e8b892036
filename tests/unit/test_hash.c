/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of hashes as functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/util/hash.h"

struct word {
    UT_hash_handle hh;
    char text[8];
};

static void tables(void **state) {
    enum { WORDS = 1000 };
    struct word *words = calloc(WORDS, sizeof(*words)), *table = NULL, *at;
    size_t n = 0;

    (void)state;
    assert_null(hash_find_text(table, "0"));
    for (unsigned i = 0; i < WORDS; i++) {
        snprintf(words[i].text, sizeof(words[i].text), "%u", i);
        hash_add(&table, &words[i], words[i].text, strlen(words[i].text));
    }
    for (at = table; at; at = at->hh.next)
        assert_ptr_equal(at, &words[n++]);
    assert_int_equal(n, WORDS);
    hash_remove(&table, &words[0]);
    hash_remove(&table, &words[500]);
    assert_ptr_equal(table, &words[1]);
    assert_null(hash_find_text(table, "500"));
    assert_null(hash_find(table, "1234", 0));
    assert_ptr_equal(hash_find(table, "1234", 2), &words[12]);
    hash_clear(&table);
    assert_null(table);
    free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
