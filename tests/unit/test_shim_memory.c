/* The shim's own memory: pieces that lie apart, in few mappings, up to a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shim/memory.h"

static unsigned char *take(size_t n) {
    unsigned char *p = wc_arena_take(&memory_arena, n);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 16, 0);
    return p;
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
        piece[i] = take(SIZE);
        assert_true(is_filled(piece[i], 0, SIZE));
        memset(piece[i], i % 255 + 1, SIZE);
        jumps += i && piece[i] != piece[i - 1] + 1008;
    }
    for (int i = 0; i < PIECES; i++)
        assert_true(is_filled(piece[i], (unsigned char)(i % 255 + 1), SIZE));
    assert_in_range(jumps, 1, 5); /* 1008 of them need four mappings */
}

static void a_large_piece_is_whole(void **state) {
    enum { SIZE = 1 << 20 };
    (void)state;
    memset(take(SIZE), 1, SIZE);
}

static void what_was_half_taken_is_left_alone(void **state) {
    (void)state;
    unsigned char *before = take(16);
    assert_ptr_equal(take(16), before + 16);
    memory_forget();
    assert_ptr_not_equal(take(16), before + 32);
}

static void scratch_memory_is_one_each(void **state) {
    unsigned char *file = memory_scratch_file(), *diagnose = memory_scratch_diagnose();
    (void)state;
    assert_true(file && diagnose && is_filled(file, 0, SCRATCH_FILE));
    memset(file, 1, SCRATCH_FILE);
    assert_true(is_filled(diagnose, 0, SCRATCH_DIAGNOSE));
    memset(diagnose, 2, SCRATCH_DIAGNOSE);
    assert_true(is_filled(file, 1, SCRATCH_FILE));
    assert_ptr_equal(memory_scratch_file(), file);
    assert_ptr_equal(memory_scratch_diagnose(), diagnose);
}

/* The last test: nothing is left after it. */
static void it_ends_at_a_bound(void **state) {
    enum { SIZE = 1 << 20 };
    size_t taken = 0;
    (void)state;
    assert_null(wc_arena_take(&memory_arena, SIZE_MAX - 3));
    assert_null(wc_arena_take(&memory_arena, MEMORY_MOST + 1));
    while (taken <= MEMORY_MOST && wc_arena_take(&memory_arena, SIZE))
        taken += SIZE;
    assert_in_range(taken, MEMORY_MOST - 8 * SIZE, MEMORY_MOST - SIZE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_lie_apart_and_mostly_beside_each_other),
        cmocka_unit_test(a_large_piece_is_whole),
        cmocka_unit_test(pieces_lie_apart_and_mostly_beside_each_other),
        cmocka_unit_test(what_was_half_taken_is_left_alone),
        cmocka_unit_test(scratch_memory_is_one_each),
        cmocka_unit_test(it_ends_at_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
