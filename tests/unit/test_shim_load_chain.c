/* SPDX-License-Identifier: Apache-2.0 */
/* Who loaded whom, by the order of the loader's list, and as far as there is room. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "shim/load_chain.h"
#include "shim/objects.h"
#include "support_elf.h"

enum { LINKS = 4096, NAMES = 8192 / 4 * 3, NEEDS = 50 };

const char *objects_path_of(const struct dl_phdr_info *info) {
    (void)info;
    return "/bin/program";
}

/* An object that needs "lib<first>.so" and those behind it. */
static void see(const char *path, const char *soname, int first, int count) {
    static struct elf_maker maker;
    struct dl_phdr_info info = {.dlpi_name = path};
    struct wc_elf_image image;
    char needed[32];
    elf_begin(&maker);
    if (soname)
        elf_dynamic(&maker, DT_SONAME, elf_string(&maker, soname));
    for (int i = first; i < first + count; i++) {
        snprintf(needed, sizeof needed, "lib%d.so", i);
        elf_dynamic(&maker, DT_NEEDED, elf_string(&maker, needed));
    }
    elf_end(&maker, 0, 0);
    assert_int_equal(wc_elf_from_pieces(&image, maker.bytes, maker.n, NULL, NULL), WC_ELF_OK);
    load_chain_see(&info, &image);
}

static const char *loaded_by(const char *path) {
    const struct wc_search_object *o = load_chain_of(path);
    assert_non_null(o);
    return o->loaded_by ? o->loaded_by->path : NULL;
}

static void the_first_that_needs_it_has_loaded_it(void **state) {
    (void)state;
    load_chain_begin();
    see("", NULL, 1, 2);
    see("/lib/lib1.so", NULL, 3, 1);
    see("/lib/another-name.so", "lib2.so", 3, 1);
    see("/lib/lib3.so", NULL, 0, 0);
    see("/lib/opened.so", "opened.so", 1, 1);
    assert_string_equal(loaded_by("/lib/lib1.so"), "/bin/program");
    assert_string_equal(loaded_by("/lib/another-name.so"), "/bin/program");
    assert_string_equal(loaded_by("/lib/lib3.so"), "/lib/lib1.so");
    assert_null(loaded_by("/lib/opened.so"));
    assert_string_equal(load_chain_of("/lib/lib3.so")->origin, "/lib");
    assert_true(load_chain_program()->is_program);
    assert_null(load_chain_of("/lib/lib4.so"));
}

static void links_are_bounded(void **state) {
    char path[32];
    (void)state;
    load_chain_begin();
    for (int i = 0; i <= LINKS; i++) {
        snprintf(path, sizeof path, "/lib/lib%d.so", i);
        see(path, NULL, 0, 0);
    }
    assert_non_null(load_chain_of("/lib/lib4095.so"));
    assert_null(load_chain_of("/lib/lib4096.so"));
    assert_non_null(load_chain_path(LINKS - 1));
    assert_null(load_chain_path(LINKS));
    load_chain_begin();
    assert_null(load_chain_of("/lib/lib4095.so"));
}

/* All hosts have one base name, which takes one place. */
static void names_are_bounded(void **state) {
    char path[32];
    (void)state;
    load_chain_begin();
    for (int i = 0; i * NEEDS < NAMES + NEEDS; i++) {
        snprintf(path, sizeof path, "/%d/host", i);
        see(path, NULL, i * NEEDS, NEEDS);
    }
    snprintf(path, sizeof path, "/lib/lib%d.so", NAMES - 2);
    see(path, NULL, 0, 0);
    assert_non_null(loaded_by(path));
    snprintf(path, sizeof path, "/lib/lib%d.so", NAMES - 1);
    see(path, NULL, 0, 0);
    assert_null(loaded_by(path));
    load_chain_begin();
    see("/1/host", NULL, NAMES - 1, 1);
    see(path, NULL, 0, 0);
    assert_string_equal(loaded_by(path), "/1/host");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_needs_it_has_loaded_it),
        cmocka_unit_test(links_are_bounded),
        cmocka_unit_test(names_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
