/* SPDX-License-Identifier: Apache-2.0 */
/* The shim's own memory: aligned, distinct, bounded, whole after a fork. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shim/memory.h"

static unsigned char *take(size_t n) {
    unsigned char *p = memory_arena.more(memory_arena.owner, n);
    if (p)
        memset(p, 0x5a, n);
    return p;
}

static void pieces_are_aligned_and_apart(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 15, 16, 17, 4000, 300000, 1, 100};
    unsigned char *pieces[8];
    for (size_t i = 0; i < 8; i++) {
        pieces[i] = take(sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(pieces[i][0], i);
        assert_int_equal(pieces[i][sizes[i] - 1], i);
    }
}

static bool is_filled(const unsigned char *p, unsigned char with, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] != with)
            return false;
    return true;
}

/* Far more than the first piece that the library brings, and than one mapping. */
static void pieces_lie_apart_and_mostly_beside_each_other(void **state) {
    enum { PIECES = 1000, SIZE = 1000 };
    static unsigned char *piece[PIECES];
    int jumps = 0;
    (void)state;
    for (int i = 0; i < PIECES; i++) {
        piece[i] = wc_arena_take(&memory_arena, SIZE);
        assert_non_null(piece[i]);
        assert_true(is_filled(piece[i], 0, SIZE));
        memset(piece[i], i % 255 + 1, SIZE);
        jumps += i && piece[i] != piece[i - 1] + 1008;
    }
    for (int i = 0; i < PIECES; i++)
        assert_true(is_filled(piece[i], (unsigned char)(i % 255 + 1), SIZE));
    assert_in_range(jumps, 1, 5); /* 1008 of them need four mappings */
}

static void what_was_forgotten_is_not_given_again(void **state) {
    (void)state;
    unsigned char *before = take(64), *after;
    memory_forget();
    after = take(64);
    assert_non_null(after);
    assert_true(after < before || after >= before + 64);
    assert_int_equal(before[63], 0x5a);
}

static void scratch_is_one_zeroed_piece(void **state) {
    (void)state;
    unsigned char *file = memory_scratch_file(), *diagnose = memory_scratch_diagnose();
    assert_non_null(file);
    assert_non_null(diagnose);
    assert_int_equal(file[0] | file[SCRATCH_FILE - 1], 0);
    assert_int_equal(diagnose[0] | diagnose[SCRATCH_DIAGNOSE - 1], 0);
    assert_ptr_equal(memory_scratch_file(), file);
    assert_ptr_equal(memory_scratch_diagnose(), diagnose);
    assert_true(file + SCRATCH_FILE <= diagnose || diagnose + SCRATCH_DIAGNOSE <= file);
}

static void it_ends_at_its_bound(void **state) {
    (void)state;
    size_t step = (size_t)1 << 20, taken = 0;
    assert_null(memory_arena.more(memory_arena.owner, SIZE_MAX - 3)); /* none, rounded up */
    assert_null(memory_arena.more(memory_arena.owner, MEMORY_MOST + 1));
    while (taken <= MEMORY_MOST && take(step))
        taken += step;
    assert_in_range(taken, MEMORY_MOST - 4 * step, MEMORY_MOST);
    assert_null(take(step));
    assert_null(memory_arena.more(memory_arena.owner, SIZE_MAX - 40));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(pieces_lie_apart_and_mostly_beside_each_other),
        cmocka_unit_test(what_was_forgotten_is_not_given_again),
        cmocka_unit_test(scratch_is_one_zeroed_piece),
        cmocka_unit_test(it_ends_at_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
