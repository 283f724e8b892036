/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/maps, hostile names among it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support_place.h"
#include "tools/observe/inspect/inspect.h"

static struct maps read_text(const char *text) {
    struct maps m = {NULL, 0};

    maps_read(&m, text, strlen(text));
    return m;
}

static const struct mapping *maps_at(const struct maps *m, uint64_t address) {
    for (size_t i = 0; i < m->n; i++)
        if (address >= m->p[i].start && address < m->p[i].end)
            return &m->p[i];
    return NULL;
}

static void a_line_is_understood(void **state) {
    struct maps m = read_text("7f00a000-7f00c000 r-xp 00003000 fd:1a 1234567                    "
                              "/usr/lib/libcudnn.so.9.1.0\n");
    (void)state;

    assert_int_equal(m.n, 1);
    assert_int_equal(m.p[0].start, 0x7f00a000);
    assert_int_equal(m.p[0].end, 0x7f00c000);
    assert_int_equal(m.p[0].offset, 0x3000);
    assert_int_equal(m.p[0].inode, 1234567);
    assert_int_equal(m.p[0].device, 0xfd1a);
    assert_true(m.p[0].executable);
    assert_string_equal(m.p[0].path, "/usr/lib/libcudnn.so.9.1.0");
    maps_end(&m);
    assert_int_equal(m.n, 0);
}

static void what_is_no_file_is_left_out(void **state) {
    struct maps m = read_text("1000-2000 rw-p 00000000 00:00 0 \n"
                              "2000-3000 rw-p 00000000 00:00 0                  [heap]\n"
                              "3000-4000 ---p 00000000 00:00 0\n"
                              "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
                              "                 [vsyscall]");
    (void)state;

    assert_int_equal(m.n, 0);
    maps_end(&m);
}

static void what_is_no_line_is_left_out(void **state) {
    static const char *const lines[] = {
        "",
        "\n",
        "1000",
        "1000-",
        "1000-2000",
        "1000-2000 r-x",
        "1000-2000 r-xp",
        "1000-2000 r-xp 0",
        "1000-2000 r-xp 0 08",
        "1000-2000 r-xp 0 08:01",
        "1000-2000 r-xp 0 08:01 ",
        "-2000 r-xp 0 08:01 1 /a",
        "2000-1000 r-xp 0 08:01 1 /a",
        "1000-1000 r-xp 0 08:01 1 /a",
        "x000-2000 r-xp 0 08:01 1 /a",
        "11111111111111111-2 r-xp 0 08:01 1 /a",
        "1000-2000 r-xp 0 08:01 99999999999999999999 /a",
        "/a b c d",
    };
    (void)state;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct maps m = read_text(lines[i]);
        if (m.n != 0)
            print_message("%s\n", lines[i]);
        assert_int_equal(m.n, 0);
        maps_end(&m);
    }
}

/* Cut anywhere, in a buffer of just that size, so that reading over its end is seen. */
static void a_text_that_is_cut_is_read_as_far_as_it_goes(void **state) {
    static const char text[] = "1000-2000 r--p 00000000 08:01 11 /lib/a.so\n"
                               "2000-3000 r-xp 00001000 08:01 11 /lib/a.so\n";
    (void)state;

    for (size_t n = 0; n < sizeof(text); n++) {
        struct maps m = {NULL, 0};
        char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, text, n);
        maps_read(&m, copy, n);
        assert_true(m.n <= 2);
        free(copy);
        maps_end(&m);
    }
}

static void a_byte_zero_is_no_part_of_a_line(void **state) {
    static const char text[] = "1000-2000 r--p 00000000 08:01 11 /lib/a\0.so\n"
                               "2000-3000 r-xp 00001000 08:01 11 /lib/b.so\n";
    struct maps m = {NULL, 0};
    (void)state;

    maps_read(&m, text, sizeof(text) - 1);
    assert_int_equal(m.n, 1);
    assert_string_equal(m.p[0].path, "/lib/b.so");
    maps_end(&m);
}

static void an_address_is_found(void **state) {
    struct maps m = read_text("1000-2000 r--p 0 08:01 11 /a\n3000-4000 r--p 0 08:01 12 /b\n");
    (void)state;

    assert_null(maps_at(&m, 0xfff));
    assert_ptr_equal(maps_at(&m, 0x1000), &m.p[0]);
    assert_ptr_equal(maps_at(&m, 0x1fff), &m.p[0]);
    assert_null(maps_at(&m, 0x2000));
    assert_ptr_equal(maps_at(&m, 0x3000), &m.p[1]);
    maps_end(&m);
}

static bool are_same(const char *a, const char *b) {
    struct maps x = read_text(a), y = read_text(b);
    bool same = maps_same(&x, &y);

    assert_int_equal(maps_same(&y, &x), same);
    maps_end(&x);
    maps_end(&y);
    return same;
}

static void what_counts_is_which_files_are_mapped_where(void **state) {
    static const char one[] = "1000-2000 r--p 00000000 08:01 11 /a\n";
    (void)state;

    assert_true(are_same(one, one));
    assert_true(are_same("", "5000-6000 rw-p 00000000 00:00 0 [heap]\n"));
    assert_true(are_same(one, "1000-2000 r--p 00000000 08:01 11 /a\n"
                              "5000-6000 rw-p 00000000 00:00 0 [heap]\n"));
    assert_false(are_same(one, ""));
    assert_false(are_same(one, "3000-4000 r--p 00000000 08:01 11 /a\n"));
    assert_false(are_same(one, "1000-2000 r--p 00001000 08:01 11 /a\n"));
    assert_false(are_same(one, "1000-2000 r--p 00000000 08:01 12 /a\n"));
    assert_false(are_same(one, "1000-2000 r--p 00000000 08:01 11 /a (deleted)\n"));
}

/* ---- names ---- */

static void has_names(const char *path, size_t count, const char *const *expected,
                      const bool *expected_gone) {
    char *name[MAPS_NAMES];
    bool gone[MAPS_NAMES];
    size_t n = maps_names(path, name, gone);

    assert_int_equal(n, count);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(name[i], expected[i]);
        assert_int_equal(gone[i], expected_gone[i]);
        free(name[i]);
    }
}

static void a_name_may_mean_several_files(void **state) {
    (void)state;

    has_names("/a", 1, (const char *[]){"/a"}, (bool[]){false});
    has_names("/a (deleted)", 2, (const char *[]){"/a (deleted)", "/a"}, (bool[]){false, true});
    has_names("/a\\012b", 2, (const char *[]){"/a\\012b", "/a\nb"}, (bool[]){false, false});
    has_names("/a\\012b (deleted)", 4,
              (const char *[]){"/a\\012b (deleted)", "/a\\012b", "/a\nb (deleted)", "/a\nb"},
              (bool[]){false, true, false, true});
    has_names("/\\012\\012\\01", 2, (const char *[]){"/\\012\\012\\01", "/\n\n\\01"},
              (bool[]){false, false});
    has_names(" (deleted)", 1, (const char *[]){" (deleted)"}, (bool[]){false});
}

/* The kernel's own spelling: files of such names, mapped into this very process. */
static const struct mapping *map_file(const char *path, struct maps *m) {
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "w+"), *maps;
    struct stat facts;
    void *at;

    assert_non_null(text);
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 4096), 0);
    assert_int_equal(fstat(fileno(file), &facts), 0);
    at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    fclose(file);
    if (strstr(path, "gone"))
        assert_int_equal(unlink(path), 0);
    maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    maps_read(m, text, fread(text, 1, 1 << 20, maps));
    fclose(maps);
    free(text);
    unlink(path);
    assert_int_equal(maps_at(m, (uintptr_t)at)->inode, facts.st_ino);
    munmap(at, 4096);
    return maps_at(m, (uintptr_t)at);
}

static void the_kernel_spells_it_that_way(void **state) {
    static const char *const names[] = {"plain",          "with space",  "new\nline",
                                        "\\012",          "a (deleted)", "gone\n",
                                        "gone (deleted)", "\x1b[31m\xff"};
    (void)state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[256], *name[MAPS_NAMES];
        bool gone[MAPS_NAMES], found = false;
        struct maps m = {NULL, 0};
        snprintf(path, sizeof(path), "%s/%s", place, names[i]);
        size_t n = maps_names(map_file(path, &m)->path, name, gone);
        for (size_t k = 0; k < n; k++) {
            found =
                found || (strcmp(name[k], path) == 0 && gone[k] == (strstr(path, "gone") != NULL));
            free(name[k]);
        }
        if (!found)
            print_message("%s\n", path);
        assert_true(found);
        maps_end(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_understood),
        cmocka_unit_test(what_is_no_file_is_left_out),
        cmocka_unit_test(what_is_no_line_is_left_out),
        cmocka_unit_test(a_text_that_is_cut_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_byte_zero_is_no_part_of_a_line),
        cmocka_unit_test(an_address_is_found),
        cmocka_unit_test(what_counts_is_which_files_are_mapped_where),
        cmocka_unit_test(a_name_may_mean_several_files),
        cmocka_unit_test_setup_teardown(the_kernel_spells_it_that_way, enter_place, leave_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
