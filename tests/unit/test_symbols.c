/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/names/symbols.c against core/data/cudnn_symbols.tsv, read anew by this test, and against
 * libraries and hosts made up from that table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/names/symbols.h"
#include "cudnn_knowledge.inc"

enum { MOST = 1024 };

static struct line {
    char name[64];
    struct wc_version first, last;
} lines[MOST];
static int count;

static int read_table(void **state) {
    (void)state;
    char path[512], text[1024];
    const char *root = getenv("WC_ROOT");
    snprintf(path, sizeof path, "%s/core/data/cudnn_symbols.tsv", root ? root : ".");
    FILE *f = fopen(path, "re");
    if (!f || !fgets(text, sizeof text, f))
        return -1;
    while (fgets(text, sizeof text, f) && count < MOST) {
        char *rest = text, *name = strsep(&rest, "\t"), *first = strsep(&rest, "\t");
        char *last = strsep(&rest, "\t");
        struct line *l = &lines[count++];
        snprintf(l->name, sizeof l->name, "%s", name);
        wc_version_parse(first, strlen(first), &l->first);
        wc_version_parse(last, strlen(last), &l->last);
        if (l->first.patch < 0)
            l->first.patch = 0;
    }
    fclose(f);
    return count ? 0 : -1;
}

static void assert_version(struct wc_version got, struct wc_version want) {
    char g[WC_VERSION_TEXT], w[WC_VERSION_TEXT];
    assert_string_equal(wc_version_format(got, g), wc_version_format(want, w));
}

static void the_table_is_the_file(void **state) {
    (void)state;
    assert_int_equal(wc_function_count(), count);
    for (int i = 0; i < count; i++) {
        int f = wc_function_find(lines[i].name);
        assert_int_not_equal(f, WC_NO_FUNCTION);
        assert_string_equal(wc_function_name(f), lines[i].name);
        assert_version(wc_function_first(f), lines[i].first);
        assert_version(wc_function_last(f), lines[i].last);
        assert_true(f == 0 || strcmp(wc_function_name(f - 1), wc_function_name(f)) < 0);
    }
}

static void the_newest_release_is_that_of_the_wheels(void **state) {
    (void)state;
    static const char *const releases[] = {
#define CUDNN_RELEASE(release, cu11, cu12, cu13) release,
#include "tools/knowledge/wheel_files.def"
    };
    struct wc_version newest = WC_VERSION_NONE, known = wc_version_of(WC_NEWEST_CUDNN);
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        assert_true(wc_version_compare(wc_version_of(releases[i]), newest) > 0);
        newest = wc_version_of(releases[i]);
    }
    newest.build = -1;
    assert_version(known, newest);
    for (int i = 0; i < count; i++)
        assert_true(wc_version_compare(lines[i].first, known) <= 0);
}

static void a_name_is_found_whole_or_not_at_all(void **state) {
    (void)state;
    static const char *const strangers[] = {
        "",         "a",           "cudnn",        "cudnnCreat",
        "zzzz",     "cudnnCreatf", "cudnnCreate_", "cudnncreate",
        "\xff\xff", "cudnnzzz"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        assert_int_equal(wc_function_find(strangers[i]), WC_NO_FUNCTION);
    for (int i = 0; i < count; i++) {
        char longer[80];
        strcat(strcpy(longer, lines[i].name), "0");
        assert_int_equal(wc_function_find(longer), WC_NO_FUNCTION);
    }
}

static void what_is_not_listed_has_no_name_and_no_release(void **state) {
    (void)state;
    const int strangers[] = {WC_NO_FUNCTION, -2, wc_function_count(), 1 << 30};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        struct wc_release_range r = {WC_VERSION_NONE, WC_VERSION_NONE};
        assert_null(wc_function_name(strangers[i]));
        assert_false(wc_version_known(wc_function_first(strangers[i])));
        assert_false(wc_version_known(wc_function_last(strangers[i])));
        wc_release_range_imports(&r, strangers[i]);
        assert_false(wc_version_known(r.floor) || wc_version_known(r.ceiling));
    }
}

/* Is v within what the range says? A ceiling of 8.9 has every 8.9.x below it. */
static bool within(struct wc_version v, const struct wc_release_range *r) {
    if (wc_version_known(r->floor) && wc_version_compare(v, r->floor) < 0)
        return false;
    return !wc_version_known(r->ceiling) || wc_version_agree(v, r->ceiling) ||
           wc_version_compare(v, r->ceiling) < 0;
}

static bool in_release(int line, struct wc_version v) {
    const struct line *l = &lines[line];
    struct wc_release_range life = {l->first, l->last};
    return within(v, &life);
}

static bool has(void *ctx, int function) {
    for (int i = 0; i < count; i++) {
        if (strcmp(lines[i].name, wc_function_name(function)) == 0)
            return in_release(i, *(struct wc_version *)ctx);
    }
    return false;
}

static int add_release(struct wc_version out[MOST], int n, struct wc_version v) {
    for (int i = 0; i < n; i++) {
        if (wc_version_compare(out[i], v) == 0)
            return n;
    }
    out[n] = v;
    return n + 1;
}

/* Every release that the table knows a change of, and one shortly behind each. */
static int known_releases(struct wc_version out[MOST]) {
    int n = 0;
    for (int i = 0; i < count && n + 2 < MOST; i++) {
        struct wc_version later = lines[i].first;
        later.patch += 3;
        n = add_release(out, n, lines[i].first);
        n = add_release(out, n, later);
    }
    return n;
}

static void a_whole_library_dates_itself(void **state) {
    (void)state;
    static struct wc_version releases[MOST];
    int n = known_releases(releases);
    for (int i = 0; i < n; i++) {
        struct wc_release_range r = {WC_VERSION_NONE, WC_VERSION_NONE};
        wc_release_range_exports(&r, has, &releases[i]);
        assert_true(within(releases[i], &r));
        for (int k = 0; k < n; k++) {
            /* Another release is in the range only if it has the same functions, but for what went
             * since: who lacks such a one need not be newer. */
            bool same = true;
            for (int l = 0; l < count; l++)
                same = same && (in_release(l, releases[i]) == in_release(l, releases[k]) ||
                                (wc_version_known(lines[l].last) && in_release(l, releases[k])));
            if (within(releases[k], &r) && !same) {
                char a[WC_VERSION_TEXT], b[WC_VERSION_TEXT];
                fail_msg("%s taken for %s", wc_version_format(releases[i], a),
                         wc_version_format(releases[k], b));
            }
        }
    }
}

static bool has_one(void *ctx, int function) {
    return *(int *)ctx == function;
}

/* A part exports only its share: what it lacks of its own release must not make it older. */
static void a_part_is_not_dated_before_its_own_functions(void **state) {
    (void)state;
    for (int f = 0; f < wc_function_count(); f++) {
        struct wc_release_range r = {WC_VERSION_NONE, WC_VERSION_NONE};
        wc_release_range_exports(&r, has_one, &f);
        assert_version(r.floor, wc_function_first(f));
        assert_true(within(r.floor, &r));
    }
}

static bool has_nothing(void *ctx, int function) {
    (void)ctx;
    (void)function;
    return false;
}

static void a_library_without_functions_has_no_date(void **state) {
    (void)state;
    struct wc_release_range r = {WC_VERSION_NONE, WC_VERSION_NONE};
    wc_release_range_exports(&r, has_nothing, NULL);
    assert_false(wc_version_known(r.floor));
    assert_false(wc_version_known(r.ceiling));
}

static void a_host_can_use_the_releases_that_have_all_it_imports(void **state) {
    (void)state;
    for (int a = 0; a < count; a++) {
        for (int b = a % 7; b < count; b += 7) {
            struct wc_release_range r = {WC_VERSION_NONE, WC_VERSION_NONE};
            wc_release_range_imports(&r, wc_function_find(lines[a].name));
            wc_release_range_imports(&r, wc_function_find(lines[b].name));
            const struct line *probe[] = {&lines[a], &lines[b], &lines[(a * 31 + b) % count]};
            for (size_t i = 0; i < sizeof probe / sizeof *probe; i++) {
                struct wc_version v = probe[i]->first;
                assert_int_equal(within(v, &r), in_release(a, v) && in_release(b, v));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_file),
        cmocka_unit_test(the_newest_release_is_that_of_the_wheels),
        cmocka_unit_test(a_name_is_found_whole_or_not_at_all),
        cmocka_unit_test(what_is_not_listed_has_no_name_and_no_release),
        cmocka_unit_test(a_whole_library_dates_itself),
        cmocka_unit_test(a_part_is_not_dated_before_its_own_functions),
        cmocka_unit_test(a_library_without_functions_has_no_date),
        cmocka_unit_test(a_host_can_use_the_releases_that_have_all_it_imports),
    };
    return cmocka_run_group_tests(tests, read_table, NULL);
}
