/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of dlsym's answers: exactly what was noted, until it is forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "shim/answers.h"

static const char callers[2];

static struct answer_key key(int caller, uintptr_t value, uint64_t name) {
    return (struct answer_key){(const void *)&callers[caller], value, name};
}

static uintptr_t find(struct answer_key k) {
    uintptr_t answer = 7;
    return answers_find(&k, &answer) ? answer : answer == 7 ? 0 : 1;
}

static void what_was_noted_is_found_by_its_whole_key(void **state) {
    struct answer_key k = key(0, 16, 99);
    (void)state;
    assert_int_equal(find(k), 0);
    answers_note(&k, 1234);
    assert_int_equal(find(k), 1234);
    assert_int_equal(find(key(1, 16, 99)), 0);
    assert_int_equal(find(key(0, 32, 99)), 0);
    assert_int_equal(find(key(0, 16, 98)), 0);
    answers_note(&k, 5678);
    assert_int_equal(find(k), 5678);
    answers_forget();
    assert_int_equal(find(k), 0);
    answers_note(&k, 91011);
    assert_int_equal(find(k), 91011);
}

/* Far more than there are places for: what is found is right. */
static void one_takes_the_place_of_another(void **state) {
    size_t found = 0;
    (void)state;
    for (uintptr_t i = 1; i <= 4000; i++) {
        struct answer_key k = key(0, i * 16, i);
        answers_note(&k, i);
    }
    for (uintptr_t i = 1; i <= 4000; i++) {
        uintptr_t answer = find(key(0, i * 16, i));
        assert_true(answer == 0 || answer == i);
        found += answer != 0;
    }
    assert_in_range(found, 100, 2000);
}

#define ROUNDS 20000000
static struct answer_key two[2]; /* of one place */
static bool over;

static void *note_in_turns(void *unused) {
    (void)unused;
    for (uintptr_t i = 0; i < ROUNDS; i++)
        answers_note(&two[i % 2], two[i % 2].value);
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    return NULL;
}

static void who_asks_meanwhile_gets_no_mixture(void **state) {
    pthread_t thread;
    size_t wrong = 0;
    (void)state;
    two[0] = two[1] = key(0, 1, 1);
    answers_note(&two[0], 1);
    do {
        two[1].value++;
        answers_note(&two[1], two[1].value);
    } while (find(two[0]));
    assert_int_equal(pthread_create(&thread, NULL, note_in_turns, NULL), 0);
    for (uintptr_t i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); i++) {
        uintptr_t answer = find(two[i % 2]);
        wrong += answer != 0 && answer != two[i % 2].value;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_noted_is_found_by_its_whole_key),
        cmocka_unit_test(one_takes_the_place_of_another),
        cmocka_unit_test(who_asks_meanwhile_gets_no_mixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
