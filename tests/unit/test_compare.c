/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes beside each other: tools/report/compare.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/report/report.h"

struct pair {
    struct source *a, *b;
    struct comparison c;
};

static int begin(void **state) {
    struct pair *p = must_allocate(sizeof(*p));

    p->a = source_new(SOURCE_LOG, "a.jsonl");
    p->b = source_new(SOURCE_LOG, "b.jsonl");
    *state = p;
    return 0;
}

static int end(void **state) {
    struct pair *p = *state;

    comparison_end(&p->c);
    source_free(p->a);
    source_free(p->b);
    free(p);
    return 0;
}

static struct wc_record record(enum wc_kind kind) {
    struct wc_record r;

    wc_record_begin(&r, kind);
    return r;
}

static void add_variables(struct source *s, const char *const *variables, size_t n) {
    struct wc_record r = record(WC_KIND_process);

    r.u.process.environment = (struct wc_strings){variables, n};
    source_add(s, &r);
}

static void add_facade(struct source *s, int64_t object, const char *path, const char *version) {
    struct wc_record r = record(WC_KIND_object);

    r.u.object.object = object;
    r.u.object.role = WC_role_FACADE;
    r.u.object.mapped = true;
    r.u.object.path = path;
    r.u.object.soname = wc_base_name(path);
    r.u.object.version = version;
    source_add(s, &r);
}

static void add_search(struct source *s, int64_t object, enum wc_search_rule rule,
                       const char *element) {
    struct wc_record r = record(WC_KIND_search);

    r.u.search.search = object;
    r.u.search.object = object;
    r.u.search.rule = rule;
    r.u.search.element = element;
    source_add(s, &r);
}

static void add_driver(struct source *s, const char *driver, const char *kernel) {
    struct wc_record r = record(WC_KIND_machine);

    r.u.machine.driver = driver;
    r.u.machine.kernel = kernel;
    source_add(s, &r);
}

static void add_call(struct source *s, const char *function, int64_t status) {
    struct wc_record r = record(WC_KIND_call);

    r.u.call.function = function;
    r.u.call.phase = WC_phase_AFTER;
    r.u.call.status = status;
    source_add(s, &r);
}

/* Each line: "kind: text". */
static void assert_told(struct pair *p, const char *const *lines, size_t n) {
    compare(&p->c, p->a, p->b);
    for (size_t i = 0; i < p->c.n; i++) {
        char *text = difference_text(&p->c.p[i]);
        char *line = must_format("%s: %s", difference_words[p->c.p[i].kind].word, text);
        assert_string_equal(line, i < n ? lines[i] : "nothing more");
        free(line);
        free(text);
    }
    assert_int_equal(p->c.n, n);
}
#define TOLD(p, ...)                                                                               \
    do {                                                                                           \
        static const char *const lines_[] = {__VA_ARGS__};                                         \
        assert_told(p, lines_, sizeof(lines_) / sizeof(lines_[0]));                                \
    } while (0)

static void paths_and_ranks_alone_are_no_difference(void **state) {
    static const char *const first[] = {"RANK=0", "SLURM_PROCID=0", "LD_LIBRARY_PATH=/x"};
    static const char *const second[] = {"LD_LIBRARY_PATH=/x", "RANK=1", "SLURM_PROCID=1"};
    struct pair *p = *state;

    add_variables(p->a, first, 3);
    add_variables(p->b, second, 3);
    add_facade(p->a, 1, "/a/libcudnn.so.9", "9.8.0");
    add_facade(p->b, 7, "/b/libcudnn.so.9", "9.8.0");
    add_driver(p->a, "570.1", "6.1");
    add_driver(p->b, "570.1", "6.1");
    assert_told(p, NULL, 0);
}

static void the_cause_comes_before_what_follows_from_it(void **state) {
    static const char *const without[] = {"LD_PRELOAD=/w.so"};
    static const char *const with[] = {"LD_PRELOAD=/w.so", "LD_LIBRARY_PATH=/old"};
    struct pair *p = *state;

    /* The other way round, so that the order is not that of the records. */
    add_call(p->a, "cudnnCreate", 0);
    add_call(p->b, "cudnnCreate", 1001);
    add_driver(p->a, "570.1", "6.1");
    add_driver(p->b, NULL, "6.2");
    add_facade(p->a, 1, "/venv/libcudnn.so.9", "9.8.0");
    add_facade(p->b, 1, "/old/libcudnn.so.9", "9.1.0");
    add_search(p->a, 1, WC_search_rule_RUNPATH, "$ORIGIN");
    add_search(p->b, 1, WC_search_rule_LIBRARY_PATH, "/old");
    add_variables(p->a, without, 1);
    add_variables(p->b, with, 2);
    TOLD(p, "environment: LD_LIBRARY_PATH: /old, not none",
         "found: rule of libcudnn.so.9: LD_LIBRARY_PATH: /old, not DT_RUNPATH: $ORIGIN",
         "library: version of libcudnn.so.9: 9.1.0, not 9.8.0", "driver: driver: none, not 570.1",
         "call: cudnnCreate: status 1001, not status 0", "computer: kernel: 6.2, not 6.1");
}

static void another_major_is_the_same_library(void **state) {
    struct pair *p = *state;

    add_facade(p->a, 1, "/a/libcudnn.so.8", "8.9.7");
    add_facade(p->b, 1, "/a/libcudnn.so.9", "9.8.0");
    TOLD(p, "library: SONAME of libcudnn.so.8: libcudnn.so.9, not libcudnn.so.8",
         "library: version of libcudnn.so.8: 9.8.0, not 8.9.7");
}

static void what_only_one_has_is_told(void **state) {
    struct pair *p = *state;

    add_facade(p->a, 1, "/a/libcudnn.so.9", "9.8.0");
    add_facade(p->b, 1, "/a/libcudnn.so.9", "9.8.0");
    add_facade(p->b, 2, "/b/libcudnn.so.9", "9.8.0");
    TOLD(p, "library: libcudnn.so.9: 9.8.0, /b/libcudnn.so.9, not none");
    comparison_end(&p->c);
    struct source *kept = p->a;
    p->a = p->b;
    p->b = kept;
    TOLD(p, "library: libcudnn.so.9: none, not 9.8.0, /b/libcudnn.so.9");
}

static void a_scan_has_no_calls_to_lack(void **state) {
    struct pair *p = *state;

    source_free(p->b);
    p->b = source_new(SOURCE_SCAN, "/venv");
    add_call(p->a, "cudnnCreate", 0);
    add_facade(p->a, 1, "/a/libcudnn.so.9", "9.8.0");
    add_facade(p->b, 1, "/a/libcudnn.so.9", "9.8.0");
    assert_told(p, NULL, 0);
}

static void what_a_lock_does_not_say_fits_whatever_is_left(void **state) {
    struct pair *p = *state;

    source_free(p->a);
    p->a = source_new(SOURCE_LOCK, "a.lock");
    p->a->in_part[WC_KIND_object] = true;
    add_facade(p->a, 1, "libcudnn.so.9", NULL);
    add_facade(p->a, 2, "libcudnn.so.9", "9.8.0");
    add_facade(p->b, 1, "/a/libcudnn.so.9", "9.8.0");
    add_facade(p->b, 2, "/b/libcudnn.so.9", "9.1.0");
    add_facade(p->b, 3, "/c/libcudnn.so.9", "9.2.0");
    assert_told(p, NULL, 0);
    comparison_end(&p->c);
    p->a->in_part[WC_KIND_object] = false;
    TOLD(p, "library: libcudnn.so.9: 9.2.0, /c/libcudnn.so.9, not none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_and_ranks_alone_are_no_difference, begin, end),
        cmocka_unit_test_setup_teardown(the_cause_comes_before_what_follows_from_it, begin, end),
        cmocka_unit_test_setup_teardown(another_major_is_the_same_library, begin, end),
        cmocka_unit_test_setup_teardown(what_only_one_has_is_told, begin, end),
        cmocka_unit_test_setup_teardown(what_a_lock_does_not_say_fits_whatever_is_left, begin, end),
        cmocka_unit_test_setup_teardown(a_scan_has_no_calls_to_lack, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
