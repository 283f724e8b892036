/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that objects take away: seen before it is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/readable.h"
#include "support_elf.h"

enum { PAGE = 4096, PAGES = 6, OBJECT = 4 };
static unsigned char *memory;

static void protect(size_t page, int protection) {
    assert_int_equal(mprotect(memory + page * PAGE, PAGE, protection), 0);
}

static int begin(void **state) {
    (void)state;
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    readable_begin();
    return memory == MAP_FAILED ? -1 : 0;
}

static int end(void **state) {
    (void)state;
    return munmap(memory, PAGES * PAGE);
}

static void a_page_is_what_its_protection_says(void **state) {
    (void)state;
    protect(1, PROT_READ);
    protect(2, PROT_NONE);
    assert_int_equal(munmap(memory + 3 * PAGE, PAGE), 0);
    memset(memory + PAGE * 4, 0, 8); /* the word that is asked for */
    for (size_t i = 0; i < PAGE; i += 1023) {
        assert_true(readable(memory + i, 1));
        assert_true(readable(memory + PAGE + i, 1));
        assert_false(readable(memory + 2 * PAGE + i, 1));
        assert_false(readable(memory + 3 * PAGE + i, 1));
        assert_true(readable(memory + 4 * PAGE + i, 1));
    }
}

static void what_is_behind_the_end_of_a_file_is_not(void **state) {
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), PAGE), 0);
    void *at = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    assert_true(at != MAP_FAILED);
    assert_true(readable(at, PAGE));
    assert_false(readable(at, PAGE + 1));
    munmap(at, 2 * PAGE);
    fclose(file);
}

static void a_range_is_if_each_page_is(void **state) {
    (void)state;
    protect(3, PROT_NONE);
    assert_true(readable(memory, 3 * PAGE));
    assert_true(readable(memory + 3 * PAGE - 1, 1));
    assert_false(readable(memory + 3 * PAGE - 1, 2));
    assert_false(readable(memory, PAGES * PAGE));
    assert_true(readable(memory + 4 * PAGE, 2 * PAGE));
    assert_true(readable(memory + 3 * PAGE, 0));
}

static void it_is_asked_once_until_it_begins_anew(void **state) {
    (void)state;
    assert_true(readable(memory, PAGE));
    protect(0, PROT_NONE);
    assert_true(readable(memory, PAGE));
    readable_begin();
    assert_false(readable(memory, PAGE));
    protect(0, PROT_READ);
    assert_true(readable(memory, PAGE));
}

static void what_nothing_ran_of_is_not_asked_for(void **state) {
    (void)state;
    protect(0, PROT_NONE);
    assert_int_equal(readable_untouched(), 0);
    readable_trust(true);
    unsigned look = readable_untouched();
    assert_int_not_equal(look, 0);
    assert_true(readable(memory, PAGE));
    readable_trust(false);
    assert_false(readable(memory, PAGE));
    readable_trust_again(0);
    assert_false(readable(memory, PAGE));
    readable_trust_again(look);
    assert_true(readable(memory, PAGE));
    readable_begin(); /* when something may have run */
    assert_false(readable(memory, PAGE));
    readable_trust_again(look);
    assert_false(readable(memory, PAGE));
}

/* After so many looks that their numbers come again. */
static void an_old_answer_never_counts(void **state) {
    (void)state;
    assert_true(readable(memory, PAGE));
    protect(0, PROT_NONE);
    for (unsigned i = 0; i < 70000; i++) {
        readable_begin();
        if (readable(memory, PAGE))
            fail_msg("look %u", i);
    }
}

/* ---- an object ---- */

static Elf64_Phdr headers[5];

/* Headers, symbols, strings and dynamic section have a page each. */
static void load(void) {
    static struct elf_maker made;
    static const char filler[PAGE];
    elf_begin(&made);
    elf_dynamic(&made, DT_SONAME, elf_string(&made, "libx.so.1"));
    elf_put(&made, filler, PAGE, 8);
    elf_symbol(&made, "cudnnCreate", STT_FUNC | STB_GLOBAL << 4, 0, 0, 0, 1);
    elf_symbol_table(&made);
    elf_hash(&made);
    elf_put(&made, filler, PAGE, 8);
    elf_end(&made, 0, 0);
    memcpy(headers, made.bytes + sizeof(Elf64_Ehdr), sizeof(headers));
    for (size_t i = 0; i < 2; i++)
        memcpy(memory + headers[i].p_vaddr, made.bytes + headers[i].p_offset, headers[i].p_filesz);
    assert_int_equal(headers[1].p_vaddr / PAGE, OBJECT - 1);
}

/* Touches all that there is to read. */
static bool read_all(struct wc_elf_image *e) {
    struct wc_elf_symbol symbol;
    struct wc_elf_reloc reloc;
    uint64_t at = 0;
    bool all = readable_image(e, (uintptr_t)memory, headers, 5) && e->soname != NULL;
    all = wc_elf_symbol_at(e, 1, &symbol) && strcmp(symbol.name, "cudnnCreate") == 0 && all;
    for (size_t i = 0; wc_elf_reloc_at(e, i, &reloc); i++)
        ;
    wc_elf_find_defined(e, "cudnnNowhere", &symbol);
    wc_elf_find_bytes(e, "no such bytes", 13, &at, SIZE_MAX);
    return all;
}

static void an_object_may_lack_any_of_its_pages(void **state) {
    struct wc_elf_image e;
    unsigned good = 0;
    (void)state;
    load();
    assert_true(read_all(&e));
    assert_string_equal(e.soname, "libx.so.1");
    for (unsigned lacks = 0; lacks < 1 << OBJECT; lacks++) {
        for (size_t i = 0; i < OBJECT; i++)
            protect(i, lacks >> i & 1 ? PROT_NONE : PROT_READ);
        readable_begin();
        good += read_all(&e);
    }
    assert_in_range(good, 1,
                    (1 << PAGES) / 4); /* there are pages that matter to nothing read here */
}

/* An image is kept, and read again later. */
static void an_image_goes_on_asking(void **state) {
    struct wc_elf_image e;
    (void)state;
    load();
    readable_trust(true);
    assert_true(read_all(&e));
    readable_keep(&e);
    readable_trust(false);
    for (size_t i = 0; i < PAGES; i++)
        protect(i, PROT_NONE);
    assert_null(wc_elf_at(&e, headers[1].p_vaddr, 8));
    assert_null(wc_elf_needed(&e, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_is_what_its_protection_says, begin, end),
        cmocka_unit_test_setup_teardown(what_is_behind_the_end_of_a_file_is_not, begin, end),
        cmocka_unit_test_setup_teardown(a_range_is_if_each_page_is, begin, end),
        cmocka_unit_test_setup_teardown(it_is_asked_once_until_it_begins_anew, begin, end),
        cmocka_unit_test_setup_teardown(what_nothing_ran_of_is_not_asked_for, begin, end),
        cmocka_unit_test_setup_teardown(an_old_answer_never_counts, begin, end),
        cmocka_unit_test_setup_teardown(an_object_may_lack_any_of_its_pages, begin, end),
        cmocka_unit_test_setup_teardown(an_image_goes_on_asking, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
