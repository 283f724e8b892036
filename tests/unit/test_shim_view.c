/* SPDX-License-Identifier: Apache-2.0 */
/* A library's file while it is described: read as it is asked for, and never mapped, so that who
 * cuts it meanwhile kills nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/elf/elf_image.h"
#include "shim/reader.h"
#include "support_elf.h"
#include "support_place.h"

#define BLOCK ((size_t)64 << 10)

static size_t mappings(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    size_t n = 0;
    assert_non_null(f);
    for (int byte; (byte = fgetc(f)) != EOF;)
        n += byte == '\n';
    fclose(f);
    return n;
}

/* n bytes at an offset, each of them this one. */
static void put(const char *name, size_t offset, size_t n, int byte) {
    FILE *f = fopen(name, "r+");
    f = f ? f : fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
    while (n--)
        fputc(byte, f);
    assert_int_equal(fclose(f), 0);
}

static size_t count(const struct view *v, size_t from, size_t n, int byte) {
    size_t found = 0;
    for (size_t i = from; i < from + n; i++)
        found += v->bytes[i] == byte;
    return found;
}

static void what_is_asked_for_is_read(void **state) {
    static struct view v;
    (void)state;
    put("file", 0, 3 * BLOCK + 100, 'a');
    assert_true(view_open(&v, "file"));
    assert_int_equal(v.blocks.size, 3 * BLOCK + 100);
    assert_true(view_fetch(&v, 5, 0));
    assert_int_equal(count(&v, 0, v.blocks.size, 0), v.blocks.size);
    assert_true(view_fetch(&v, BLOCK + 7, 1));
    assert_int_equal(count(&v, 0, BLOCK, 0), BLOCK);
    assert_int_equal(count(&v, BLOCK, BLOCK, 'a'), BLOCK);
    assert_int_equal(count(&v, 2 * BLOCK, BLOCK + 100, 0), BLOCK + 100);
    assert_true(view_fetch(&v, BLOCK - 1, 2 * BLOCK + 101)); /* to its last byte */
    assert_int_equal(count(&v, 0, v.blocks.size, 'a'), v.blocks.size);
    view_close(&v);
}

/* A host's file is in view while candidates are looked at. */
static void two_views_at_a_time_do_not_mix(void **state) {
    static struct view v, other;
    (void)state;
    put("file", 0, 3 * BLOCK, 'a');
    put("other", 0, 3 * BLOCK, 'b');
    assert_true(view_open(&v, "file"));
    assert_true(view_fetch(&v, 0, 1));
    assert_true(view_open(&other, "other"));
    assert_true(view_fetch(&other, 0, 3 * BLOCK));
    assert_int_equal(count(&other, 0, 3 * BLOCK, 'b'), 3 * BLOCK);
    view_close(&other);
    assert_true(view_fetch(&v, 2 * BLOCK, BLOCK));
    assert_int_equal(count(&v, 2 * BLOCK, BLOCK, 'a'), BLOCK);
    assert_int_equal(count(&v, BLOCK, BLOCK, 0), BLOCK);
    view_close(&v);
}

static void what_was_read_stays_as_it_was(void **state) {
    static struct view v;
    (void)state;
    put("file", 0, 3 * BLOCK, 'a');
    assert_true(view_open(&v, "file"));
    assert_true(view_fetch(&v, BLOCK, 1));
    put("file", 0, 3 * BLOCK, 'b');
    assert_true(view_fetch(&v, 0, 3 * BLOCK));
    assert_int_equal(count(&v, 0, BLOCK, 'b'), BLOCK);
    assert_int_equal(count(&v, BLOCK, BLOCK, 'a'), BLOCK);
    assert_int_equal(count(&v, 2 * BLOCK, BLOCK, 'b'), BLOCK);
    view_close(&v);
}

static void a_view_begins_with_nothing_of_the_one_before(void **state) {
    static struct view v;
    (void)state;
    for (int byte = 'a'; byte <= 'c'; byte++) {
        put("file", 0, 2 * BLOCK, byte);
        assert_true(view_open(&v, "file"));
        assert_true(view_fetch(&v, 0, 1));
        assert_int_equal(count(&v, 0, BLOCK, byte), BLOCK);
        view_close(&v);
    }
}

static void a_file_cut_before_it_is_read_kills_nobody(void **state) {
    static struct view v;
    (void)state;
    put("file", 0, 4 * BLOCK, 'a');
    assert_true(view_open(&v, "file"));
    assert_int_equal(truncate("file", 0), 0);
    assert_int_equal(count(&v, 0, v.blocks.size, 0),
                     v.blocks.size); /* a mapped file would raise SIGBUS here */
    assert_false(view_fetch(&v, 0, 1));
    assert_true(v.blocks.damaged);
    put("file", 0, 4 * BLOCK, 'a');
    assert_false(view_fetch(&v, 0, 1)); /* once and for all */
    view_close(&v);
}

static void a_file_cut_while_it_is_read_kills_nobody(void **state) {
    static struct view v;
    (void)state;
    for (size_t left = 0; left < 4 * BLOCK; left += BLOCK / 2) {
        put("file", 0, 4 * BLOCK, 'a');
        assert_true(view_open(&v, "file"));
        assert_true(view_fetch(&v, BLOCK, 1));
        assert_int_equal(truncate("file", (off_t)left), 0);
        assert_false(view_fetch(&v, 0, 4 * BLOCK));
        assert_int_equal(count(&v, BLOCK, BLOCK, 'a'), BLOCK);
        assert_int_equal(count(&v, 0, v.blocks.size, 'a') + count(&v, 0, v.blocks.size, 0),
                         v.blocks.size);
        view_close(&v);
    }
}

static void another_file_of_that_name_is_not_taken_for_it(void **state) {
    static struct view v;
    (void)state;
    put("file", 0, 2 * BLOCK, 'a');
    put("other", 0, 2 * BLOCK, 'b');
    assert_true(view_open(&v, "file"));
    assert_true(view_fetch(&v, 0, 1));
    assert_int_equal(rename("other", "file"), 0);
    assert_false(view_fetch(&v, BLOCK, 1));
    view_close(&v);
    assert_true(view_open(&v, "file"));
    assert_int_equal(unlink("file"), 0);
    assert_false(view_fetch(&v, 0, 1));
    view_close(&v);
}

static void what_is_no_file_with_bytes_has_no_view(void **state) {
    static struct view v;
    (void)state;
    assert_false(view_open(&v, "none"));
    assert_false(view_open(&v, "."));
    assert_int_equal(mkfifo("fifo", 0600), 0); /* nobody waits for a writer */
    assert_false(view_open(&v, "fifo"));
    put("empty", 0, 0, 0);
    assert_false(view_open(&v, "empty"));
    put("hole", 0, 1, 'a');
    if (truncate("hole", (off_t)VIEW_MOST + 1) == 0) /* not on every file system */
        assert_false(view_open(&v, "hole"));
}

static void a_file_of_many_blocks_is_read_in_larger_ones(void **state) {
    const size_t size = ((size_t)16 << 30) + 3;
    static struct view v;
    (void)state;
    put("large", 0, 1, 'a');
    put("large", size - 1, 1, 'z'); /* nothing but holes in between */
    assert_true(view_open(&v, "large"));
    assert_true(view_fetch(&v, size - 1, 1));
    assert_int_equal(v.bytes[size - 1], 'z');
    assert_int_equal(v.bytes[0], 0);
    assert_true(view_fetch(&v, 0, 1));
    assert_int_equal(v.bytes[0], 'a');
    view_close(&v);
    assert_int_equal(unlink("large"), 0);
}

/* ---- an ELF view over it ---- */

static void put_library(const char *name) {
    static struct elf_maker m;
    elf_begin(&m);
    elf_symbol(&m, "cudnnCreate", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0x100, 4, 1);
    elf_symbol_table(&m);
    elf_gnu_hash(&m, 1);
    elf_dynamic(&m, DT_SONAME, elf_string(&m, "libmade.so.1"));
    elf_end(&m, 0, 0);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(m.bytes, 1, m.n, f), m.n);
    assert_int_equal(fclose(f), 0);
}

static void a_library_is_read_through_it(void **state) {
    struct wc_elf_image e;
    struct wc_elf_symbol s;
    static struct view v;
    (void)state;
    put_library("library");
    assert_true(view_open(&v, "library"));
    assert_int_equal(wc_elf_from_pieces(&e, v.bytes, v.blocks.size, view_fetch, &v), WC_ELF_OK);
    assert_string_equal(e.soname, "libmade.so.1");
    assert_true(wc_elf_find_defined(&e, "cudnnCreate", &s));
    assert_false(v.blocks.damaged);
    view_close(&v);
}

static void a_library_that_is_cut_is_refused(void **state) {
    struct wc_elf_image e;
    static struct view v;
    (void)state;
    put_library("library");
    assert_true(view_open(&v, "library"));
    assert_int_equal(truncate("library", 64), 0);
    assert_int_equal(wc_elf_from_pieces(&e, v.bytes, v.blocks.size, view_fetch, &v),
                     WC_ELF_TRUNCATED);
    assert_true(v.blocks.damaged);
    view_close(&v);
}

/* Hosts may look at thousands of files. */
static void what_the_reader_mapped_is_gone_when_it_closes(void **state) {
    struct wc_library library;
    (void)state;
    put("file", 0, 3 * BLOCK, 'a');
    put("other", 0, BLOCK, 'b');
    const struct wc_reader *r = reader();
    size_t before = mappings();
    for (int i = 0; i < 20; i++) {
        assert_true(r->open(r->ctx, "file", &library));
        assert_true(r->open(r->ctx, "other", &library));
        assert_false(r->open(r->ctx, "file", &library)); /* two at a time */
        r->close(r->ctx);
        r->close(r->ctx);
    }
    assert_true(mappings() <= before + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_asked_for_is_read, enter_place, leave_place),
        cmocka_unit_test_setup_teardown(two_views_at_a_time_do_not_mix, enter_place, leave_place),
        cmocka_unit_test_setup_teardown(what_was_read_stays_as_it_was, enter_place, leave_place),
        cmocka_unit_test_setup_teardown(a_view_begins_with_nothing_of_the_one_before, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(a_file_cut_before_it_is_read_kills_nobody, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(a_file_cut_while_it_is_read_kills_nobody, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(another_file_of_that_name_is_not_taken_for_it, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(what_is_no_file_with_bytes_has_no_view, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(a_file_of_many_blocks_is_read_in_larger_ones, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(a_library_is_read_through_it, enter_place, leave_place),
        cmocka_unit_test_setup_teardown(a_library_that_is_cut_is_refused, enter_place, leave_place),
        cmocka_unit_test_setup_teardown(what_the_reader_mapped_is_gone_when_it_closes, enter_place,
                                        leave_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
