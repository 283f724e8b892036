/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's words on a library that it did not load, taken apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/loader_words.h"

static struct wc_said words;

static enum wc_said_what read(const char *text) {
    static char room[WC_SAID_ROOM];
    words = wc_said_read(text, room);
    return words.what;
}

static bool refuses(const char *text) {
    return read(text) == WC_SAID_REFUSED && !words.system;
}

static enum wc_system_refusal system_of(const char *text) {
    (void)read(text);
    return words.system;
}

static char longer[2000]; /* than there is room */

static void words_that_refuse_a_file_name_it(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"/a b/libcudnn.so.9: file too short", "/a b/libcudnn.so.9"},
        {"/x: y/libcudnn.so.9: invalid ELF header", "/x: y/libcudnn.so.9"},
        {"libcuda.so: wrong ELF class: ELFCLASS32", "libcuda.so"},
        {"/d/l.so: cannot read file data: Is a directory", "/d/l.so"},
        {"l.so: cannot dynamically load position-independent executable", "l.so"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(refuses(rows[i].text));
        assert_string_equal(words.file, rows[i].name);
    }
    assert_false(refuses(NULL));
    assert_false(refuses("file too short"));
    assert_false(refuses(": file too short"));
    snprintf(longer, sizeof longer, "/%01300d: file too short", 7);
    assert_false(refuses(longer));
    assert_false(refuses("l.so: undefined symbol: f, version libcudnn_ops.so.9"));
    assert_false(refuses("l.so: cannot open shared object file: No such file or directory"));
}

/* What the system did not give says nothing against the file, nor that there is none. */
static void words_of_the_system_are_no_refusal_of_the_file(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        enum wc_system_refusal what;
    } rows[] = {
        {"/a b/l.so: cannot allocate memory in static TLS block", "/a b/l.so",
         WC_SYSTEM_STATIC_TLS},
        {"l.so: cannot enable executable stack as shared object requires: Permission denied",
         "l.so", WC_SYSTEM_EXECUTABLE_STACK},
        {"/x: y/l.so: failed to map segment from shared object", "/x: y/l.so", WC_SYSTEM_MAPPING},
        {"l.so: cannot allocate name record", "l.so", WC_SYSTEM_MAPPING},
        {"l.so: cannot restore segment prot after reloc: Permission denied", "l.so",
         WC_SYSTEM_MAPPING}, /* it was read: SELinux forbids to change code */
        {"/d/l.so: cannot open shared object file: Permission denied", "/d/l.so", WC_SYSTEM_RIGHTS},
        {"l.so: cannot open shared object file: Too many open files", "l.so",
         WC_SYSTEM_DESCRIPTORS},
        {"l.so: cannot read file data: Input/output error", "l.so", WC_SYSTEM_READING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(system_of(rows[i].text), rows[i].what);
        assert_string_equal(words.file, rows[i].name);
        assert_false(refuses(rows[i].text));
        assert_int_not_equal(read(rows[i].text), WC_SAID_NOT_FOUND);
    }
    assert_int_equal(system_of(NULL), WC_SYSTEM_NOTHING);
    assert_int_equal(system_of("l.so: file too short"), WC_SYSTEM_NOTHING);
    assert_int_equal(system_of("l.so: cannot open shared object file: No such file or "
                               "directory"),
                     WC_SYSTEM_NOTHING);
}

static void what_is_unmet_is_taken_apart(void **state) {
    (void)state;
    static const struct {
        const char *text, *file, *library, *version, *symbol;
    } rows[] = {
        {"/a/libcudnn.so.8: version `libcudnn.so.8' not found (required by /b (x)/libhost.so)",
         "/b (x)/libhost.so", "/a/libcudnn.so.8", "libcudnn.so.8", NULL},
        {"/b/libhost.so: undefined symbol: cudnnCreate, version libcudnn.so.8", "/b/libhost.so",
         NULL, "libcudnn.so.8", "cudnnCreate"},
        {"/b/libhost.so: undefined symbol: cudnnCreate", "/b/libhost.so", NULL, NULL,
         "cudnnCreate"},
        {"/b/c.so: symbol f, version libcudnn_ops_infer.so.8 not defined in file "
         "libcudnn_ops_infer.so.8 with link time reference",
         "/b/c.so", NULL, "libcudnn_ops_infer.so.8", "f"},
        {"c.so: symbol f version libcublasLt.so.11 not defined in file libcublasLt.so.11 with link "
         "time reference",
         "c.so", NULL, "libcublasLt.so.11", "f"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read(rows[i].text), WC_SAID_UNMET);
        assert_string_equal(words.file, rows[i].file);
        assert_true(wc_str_same(words.library, rows[i].library));
        assert_true(wc_str_same(words.version, rows[i].version));
        assert_true(wc_str_same(words.symbol, rows[i].symbol));
    }
}

static void other_words_say_nothing_of_that(void **state) {
    (void)state;
    assert_int_not_equal(read(NULL), WC_SAID_UNMET);
    assert_int_not_equal(read(""), WC_SAID_UNMET);
    assert_int_not_equal(read("a: symbol f, version v"), WC_SAID_UNMET);
    assert_int_not_equal(read("a: version `v' not found"), WC_SAID_UNMET);
    assert_int_not_equal(read("a: version `v' not found (required by b"), WC_SAID_UNMET);
    assert_int_not_equal(read("a: version `' not found (required by b)"), WC_SAID_UNMET);
    assert_int_not_equal(read(": undefined symbol: f"), WC_SAID_UNMET);
    assert_int_not_equal(read("a: undefined symbol: "), WC_SAID_UNMET);
    assert_int_not_equal(read("a: undefined symbol: f, version "), WC_SAID_UNMET);
    snprintf(longer, sizeof longer, "a: undefined symbol: f, version %01300d", 7);
    assert_int_not_equal(read(longer), WC_SAID_UNMET);
    snprintf(longer, sizeof longer, "/%01300d: undefined symbol: f", 7);
    assert_int_not_equal(read(longer), WC_SAID_UNMET);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_refuse_a_file_name_it),
        cmocka_unit_test(words_of_the_system_are_no_refusal_of_the_file),
        cmocka_unit_test(what_is_unmet_is_taken_apart),
        cmocka_unit_test(other_words_say_nothing_of_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
