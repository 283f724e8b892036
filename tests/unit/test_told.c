/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are short by what earlier ones said, and whole again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/log/record_line.h"

static struct wc_told told;
static struct earlier earlier;
static struct heap_arena lists;
static char line[WC_RECORD_MAX + 1], room[WC_RECORD_MAX + 1];
static int64_t seq;

static int begin(void **state) {
    (void)state;
    memset(&told, 0, sizeof(told));
    heap_arena_begin(&lists);
    seq = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    earlier_end(&earlier);
    heap_arena_end(&lists);
    return 0;
}

/* Written and read; `lost`: the line does not come into the log. */
static void pass(struct wc_record *r, struct wc_record *back, bool lost) {
    const struct wc_told_last before = told.last;
    size_t n;

    r->seq = ++seq;
    r->pid = r->tid = r->pid ? r->pid : 7;
    r->time = r->time ? r->time : 1000000 * (seq + 1);
    n = wc_record_write(r, &told, line, sizeof(line) - 1);
    assert_in_range(n, 1, sizeof(line) - 1);
    line[n - 1] = '\0';
    if (lost) {
        told.last = before;
        return;
    }
    assert_true(record_from_line(line, n - 1, room, &earlier, &lists.arena, back));
    earlier_note(&earlier, back);
    assert_true(back->time == r->time || back->time + WC_TOLD_NEAR > r->time);
    assert_int_equal(back->pid, r->pid);
    assert_int_equal(back->tid, r->tid);
}

/* A request's name comes back; its line has `spelled`. */
static void name_is(const char *name, const char *spelled) {
    struct wc_record r, back;
    char quoted[256];

    wc_record_begin(&r, WC_KIND_request);
    r.u.request.name = name;
    pass(&r, &back, false);
    assert_string_equal(back.u.request.name, name);
    snprintf(quoted, sizeof(quoted), "\"name\":\"%s\"", spelled);
    if (!strstr(line, quoted))
        fail_msg("%s: not %s", line, quoted);
}

static void a_path_is_written_by_another(void **state) {
    (void)state;
    name_is("/venv/lib/site-packages/torch/lib/libtorch.so",
            "/venv/lib/site-packages/torch/lib/libtorch.so");
    name_is("/venv/lib/site-packages/torch/lib/libc10.so", "1/1/libc10.so");
    name_is("/venv/lib/site-packages/torch/lib/libtorch.so", "1/1/libtorch.so");
    name_is("/venv/lib/site-packages/torch/lib/libtorch.so.1", "1/1/libtorch.so.1");
    name_is("/venv/lib/site-packages/nvidia/lib/libcudnn.so.9", "1/3/nvidia/lib/libcudnn.so.9");
    name_is("/venv/lib/site-packages/nvidia/lib/libcudnn_ops.so.9", "5/1/libcudnn_ops.so.9");
    name_is("/venv/lib/site-packages/torch/lib/", "1/1/");
    name_is("/venv/lib/site-packages/torch/lib", "1/2/lib");
    name_is("/x", "/x");
    name_is("libcudnn.so.9", "libcudnn.so.9");
    name_is("", "");
}

static void what_looks_like_it_is_no_path(void **state) {
    (void)state;
    name_is("/a/b/c.so", "/a/b/c.so");
    name_is("1/1/c.so", "0/0/1/1/c.so");
    name_is("0/0/", "0/0/0/0/");
    name_is("9.so", "0/0/9.so");
    name_is("$ORIGIN/1/1/c.so", "$ORIGIN/1/1/c.so");
}

static void a_path_may_end_in_slashes_and_have_them_twice(void **state) {
    (void)state;
    name_is("/a/long/directory//with/slashes//", "/a/long/directory//with/slashes//");
    name_is("/a/long/directory//with/slashes/x", "1/2/x");
    name_is("/a/long/directory//with/slashes//y", "1/1/y");
    name_is("/a/long/directory/z", "1/5/z");
}

static void objects_of_cudnn_are_whole(void **state) {
    static const enum wc_role roles[] = {WC_role_FACADE, WC_role_PART, WC_role_HOST,
                                         WC_role_CUDA_DEPENDENCY};
    struct wc_record r, back;
    (void)state;

    name_is("/venv/lib/libcudnn.so.8", "/venv/lib/libcudnn.so.8");
    for (int i = 0; i < 4; i++) {
        wc_record_begin(&r, WC_KIND_object);
        r.u.object.role = roles[i];
        r.u.object.path = "/venv/lib/lib.so.9";
        r.u.object.real_path = "/venv/real/lib.so.9";
        r.u.object.soname = "lib.so.9";
        r.u.object.asked_by = "/venv/lib/libcudnn.so.8";
        pass(&r, &back, false);
        assert_string_equal(back.u.object.path, r.u.object.path);
        assert_string_equal(back.u.object.real_path, r.u.object.real_path);
        assert_string_equal(back.u.object.soname, "lib.so.9");
        assert_string_equal(back.u.object.asked_by, r.u.object.asked_by);
        assert_int_equal(!strstr(line, "\"path\":\"/venv"), roles[i] == WC_role_CUDA_DEPENDENCY);
        assert_non_null(strstr(line, "\"asked_by\":\"1/1/libcudnn.so.8\""));
        assert_null(strstr(line, "soname"));
    }
}

static void paths_of_a_list_stand_behind_a_word(void **state) {
    const char *searched[] = {"DT_RPATH /venv/lib/nvidia/",
                              "default directory /lib/",
                              "LD_LIBRARY_PATH 1/1/x",
                              "DT_RUNPATH ./",
                              "ld.so.cache",
                              "",
                              "/venv/lib/torch/ a/"};
    struct wc_record r, back;
    (void)state;

    name_is("/venv/lib/torch/x.so", "/venv/lib/torch/x.so");
    wc_record_begin(&r, WC_KIND_search);
    r.u.search.searched = (struct wc_strings){searched, 7};
    pass(&r, &back, false);
    assert_non_null(strstr(line, "[\"DT_RPATH 1/2/nvidia/\",\"default directory /lib/\","
                                 "\"LD_LIBRARY_PATH 0/0/1/1/x\",\"DT_RUNPATH ./\","));
    assert_int_equal(back.u.search.searched.n, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(back.u.search.searched.p[i], searched[i]);
}

static void a_line_that_was_lost_is_not_referred_to(void **state) {
    struct wc_record r, back;
    (void)state;

    wc_record_begin(&r, WC_KIND_request);
    r.u.request.name = "/venv/lib/torch/x.so";
    pass(&r, &back, true);
    name_is("/venv/lib/torch/y.so", "/venv/lib/torch/y.so");
    name_is("/venv/lib/torch/z.so", "2/1/z.so");
}

/* Of a damaged log. */
static void a_line_that_is_not_there_is_told(void **state) {
    static const char damaged[] = "{\"v\":3,\"kind\":\"request\",\"time\":1,\"seq\":9,\"pid\":1,"
                                  "\"name\":\"4/1/x.so\"}";
    struct wc_record r;
    (void)state;

    assert_true(record_from_line(damaged, sizeof(damaged) - 1, room, &earlier, &lists.arena, &r));
    assert_string_equal(r.u.request.name, "/?/x.so");
}

static void time_and_process_are_those_of_the_line_before(void **state) {
    struct wc_record r, back;
    const int64_t times[] = {5000000, 5019999, 5020000, 5020001, 4000000, 4000001};
    const bool there[] = {true, false, true, false, true, false};
    (void)state;

    for (int i = 0; i < 6; i++) {
        wc_record_begin(&r, WC_KIND_machine);
        r.time = times[i];
        r.pid = i == 3 ? 8 : 7;
        pass(&r, &back, false);
        assert_int_equal(strstr(line, "\"time\"") != NULL, there[i]);
        assert_int_equal(strstr(line, "\"pid\"") != NULL, i == 0 || i == 3 || i == 4);
    }
    /* Nothing is before the first. */
    earlier_end(&earlier);
    assert_false(record_from_line(line, strlen(line), room, &earlier, &lists.arena, &back));
}

/* However many there are, and however long: what has no room is written whole. */
static void its_room_is_bounded(void **state) {
    char name[600];
    struct wc_record r, back;
    (void)state;

    for (int i = 0; i < 2 * WC_TOLD_MOST; i++) {
        int n = snprintf(name, sizeof(name), "/%d/%0*d/x.so", i % 100, i % 2 ? 5 : 500, i);
        assert_in_range(n, 1, sizeof(name) - 1);
        wc_record_begin(&r, WC_KIND_request);
        r.u.request.name = r.u.request.caller = name;
        pass(&r, &back, false);
        assert_string_equal(back.u.request.name, name);
        assert_string_equal(back.u.request.caller, name);
    }
    assert_in_range(told.last.n, 2, WC_TOLD_MOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_is_written_by_another, begin, end),
        cmocka_unit_test_setup_teardown(what_looks_like_it_is_no_path, begin, end),
        cmocka_unit_test_setup_teardown(a_path_may_end_in_slashes_and_have_them_twice, begin, end),
        cmocka_unit_test_setup_teardown(objects_of_cudnn_are_whole, begin, end),
        cmocka_unit_test_setup_teardown(paths_of_a_list_stand_behind_a_word, begin, end),
        cmocka_unit_test_setup_teardown(a_line_that_was_lost_is_not_referred_to, begin, end),
        cmocka_unit_test_setup_teardown(a_line_that_is_not_there_is_told, begin, end),
        cmocka_unit_test_setup_teardown(time_and_process_are_those_of_the_line_before, begin, end),
        cmocka_unit_test_setup_teardown(its_room_is_bounded, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
