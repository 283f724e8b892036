/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of version 3 become lines of this version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/observe/log/former.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/memory.h"

static struct former former;
static int64_t seq;

static int begin(void **state) {
    (void)state;
    seq = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    former_end(&former);
    return 0;
}

/* The next line of a log, which has `more` behind its head; what the reader makes of it. */
static json_t *read_line(const char *kind, const char *more) {
    char line[4096];
    json_t *json;

    seq++;
    snprintf(line, sizeof(line), "{\"v\":3,\"kind\":\"%s\",\"seq\":%jd%s%s%s}", kind, (intmax_t)seq,
             seq == 1 ? ",\"time\":5000000,\"pid\":7" : "", *more ? "," : "", more);
    json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    if (!json)
        fail_msg("%s", line);
    former_complete(&former, json);
    return json;
}

static void key_is(json_t *json, const char *key, const char *expected) {
    const char *value = json_string_value(json_object_get(json, key));

    if (!value || strcmp(value, expected) != 0)
        fail_msg("%s: %s, not %s", key, value ? value : "(none)", expected);
}

/* A request's name. */
static void name_is(const char *spelled, const char *name) {
    char more[2048];
    json_t *json;

    snprintf(more, sizeof(more), "\"name\":\"%s\"", spelled);
    json = read_line("request", more);
    key_is(json, "name", name);
    json_decref(json);
}

static void a_path_is_written_by_another(void **state) {
    (void)state;
    name_is("/venv/lib/site-packages/torch/lib/libtorch.so",
            "/venv/lib/site-packages/torch/lib/libtorch.so");
    name_is("1/1/libc10.so", "/venv/lib/site-packages/torch/lib/libc10.so");
    name_is("1/3/nvidia/lib/libcudnn.so.9", "/venv/lib/site-packages/nvidia/lib/libcudnn.so.9");
    name_is("3/1/libcudnn_ops.so.9", "/venv/lib/site-packages/nvidia/lib/libcudnn_ops.so.9");
    name_is("1/1/", "/venv/lib/site-packages/torch/lib/");
    name_is("1/2/lib", "/venv/lib/site-packages/torch/lib");
    name_is("/x", "/x");
    name_is("libcudnn.so.9", "libcudnn.so.9");
    name_is("", "");
}

static void what_looks_like_it_is_no_path(void **state) {
    (void)state;
    name_is("/a/b/c.so", "/a/b/c.so");
    name_is("0/0/1/1/c.so", "1/1/c.so");
    name_is("0/0/0/0/", "0/0/");
    name_is("0/0/9.so", "9.so");
    name_is("9.so", "9.so");
    name_is("$ORIGIN/1/1/c.so", "$ORIGIN/1/1/c.so");
    name_is("a 1/1/c.so", "a 1/1/c.so");
    name_is("1234567890123456789/1/c.so", "1234567890123456789/1/c.so");
}

static void a_path_may_end_in_slashes_and_have_them_twice(void **state) {
    (void)state;
    name_is("/a/long/directory//with/slashes//", "/a/long/directory//with/slashes//");
    name_is("1/2/x", "/a/long/directory//with/slashes/x");
    name_is("1/1/y", "/a/long/directory//with/slashes//y");
    name_is("1/5/z", "/a/long/directory/z");
}

static void objects_of_cudnn_are_whole(void **state) {
    static const char *const roles[] = {"facade", "part", "host", "cuda-dependency"};
    (void)state;

    name_is("/venv/lib/libcudnn.so.8", "/venv/lib/libcudnn.so.8");
    for (int i = 0; i < 4; i++) {
        char more[256];
        json_t *json;
        snprintf(more, sizeof(more),
                 "\"role\":\"%s\",\"path\":\"1/1/lib.so.9\",\"asked_by\":\"1/1/libcudnn.so.8\"",
                 roles[i]);
        json = read_line("object", more);
        key_is(json, "path", i == 3 ? "/venv/lib/lib.so.9" : "1/1/lib.so.9");
        key_is(json, "asked_by", "/venv/lib/libcudnn.so.8");
        json_decref(json);
    }
}

static void paths_of_a_list_stand_behind_a_word(void **state) {
    static const char *const expected[] = {"DT_RPATH /venv/lib/nvidia/",
                                           "default directory /lib/",
                                           "LD_LIBRARY_PATH 1/1/x",
                                           "DT_RUNPATH ./",
                                           "ld.so.cache",
                                           "",
                                           "/venv/lib/torch/ a/"};
    json_t *json, *list;
    (void)state;

    name_is("/venv/lib/torch/x.so", "/venv/lib/torch/x.so");
    json = read_line("search", "\"name\":\"1/1/x\",\"searched\":[\"DT_RPATH 1/2/nvidia/\","
                               "\"default directory /lib/\",\"LD_LIBRARY_PATH 0/0/1/1/x\","
                               "\"DT_RUNPATH ./\",\"ld.so.cache\",\"\",\"1/1/ a/\"]");
    key_is(json, "name", "1/1/x");
    list = json_object_get(json, "searched");
    assert_int_equal(json_array_size(list), 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(json_string_value(json_array_get(list, i)), expected[i]);
    json_decref(json);
}

/* Of a damaged log, and of one whose line was cut: its writer did not refer to that. */
static void a_line_that_is_not_there_is_told(void **state) {
    json_t *json;
    (void)state;

    json = read_line("request", "\"cut\":3,\"name\":\"/a/b/c.so\"");
    json_decref(json);
    name_is("1/1/x.so", "/?/x.so");
    name_is("9/1/x.so", "/?/x.so");
}

static void what_is_left_out_is_usual(void **state) {
    static const struct {
        const char *kind, *more, *key, *value;
    } rows[] = {
        {"request", "", "operation", "dlopen"},
        {"failure", "", "operation", "dlopen"},
        {"object", "", "asked_how", "dlopen"},
        {"search", "\"caller\":\"/a/h\"", "of", "/a/h"},
        {"candidate", "\"path\":\"/a/x.so.9\"", "real_path", "/a/x.so.9"},
        {"file", "\"path\":\"/a/x.so.9\"", "real_path", "/a/x.so.9"},
        {"object", "\"path\":\"/a/x.so.9\"", "real_path", "/a/x.so.9"},
        {"object", "\"path\":\"/a/x.so.9\"", "asked_name", "/a/x.so.9"},
        {"object", "\"path\":\"/a/x.so.9\"", "symbol_version", "x.so.9"},
        {"demand", "\"host_path\":\"/a/h\"", "source_path", "/a/h"},
        {"object", "\"path\":\"/a/x.so.9\",\"soname\":\"y.so\"", "symbol_version", "y.so"},
        {"request", "\"operation\":\"dlmopen\"", "operation", "dlmopen"},
    };
    json_t *json;
    (void)state;

    WC_EACH_ROW(row, rows) {
        json = read_line(row->kind, row->more);
        key_is(json, row->key, row->value);
        json_decref(json);
    }
    json = read_line("request", "");
    assert_int_equal(json_integer_value(json_object_get(json, "flags")), 2);
    json_decref(json);
    json = read_line("object", "\"path\":\"/a/x.so\",\"soname\":null");
    assert_true(json_is_true(json_object_get(json, "mapped")));
    assert_true(json_is_null(json_object_get(json, "soname")));
    json_decref(json);
}

static void time_and_process_are_those_of_the_line_before(void **state) {
    static const char *const more[] = {"", "\"pid\":8", "\"time\":6000000,\"tid\":9", ""};
    static const struct {
        int64_t time, pid, tid;
    } expected[] = {{5000000, 7, 7}, {5000000, 8, 8}, {6000000, 8, 9}, {6000000, 8, 8}};
    char trouble[RECORD_TROUBLE];
    struct heap_arena lists;
    struct wc_record r;
    (void)state;

    heap_arena_begin(&lists);
    for (int i = 0; i < 4; i++) {
        json_t *json = read_line("machine", more[i]);
        assert_int_equal(record_from_json(json, &lists.arena, &r, trouble), RECORD_READ);
        assert_int_equal(r.time, expected[i].time);
        assert_int_equal(r.pid, expected[i].pid);
        assert_int_equal(r.tid, expected[i].tid);
        json_decref(json);
    }
    /* Of another process nothing is known. */
    json_t *json = read_line("process", "");
    assert_int_equal(record_from_json(json, &lists.arena, &r, trouble), RECORD_DAMAGED);
    json_decref(json);
    heap_arena_end(&lists);
}

/* However many there are: its writer referred to 64 of them. */
static void its_room_is_bounded(void **state) {
    char spelled[64], name[64];
    (void)state;

    for (int i = 0; i < 2 * FORMER_PATHS; i++) {
        snprintf(name, sizeof(name), "/%d/x.so", i);
        name_is(name, name);
    }
    assert_int_equal(json_object_size(former.paths), FORMER_PATHS);
    for (int i = 0; i < 64; i++) {
        snprintf(spelled, sizeof(spelled), "%d/1/y.so", i + 1);
        snprintf(name, sizeof(name), "/%d/y.so", i);
        name_is(spelled, name);
    }
}

static void other_versions_are_left_alone(void **state) {
    json_t *json = json_loads("{\"v\":4,\"kind\":\"request\",\"seq\":1}", 0, NULL);
    (void)state;

    former_complete(&former, json);
    assert_int_equal(json_object_size(json), 3);
    json_decref(json);
    json = json_loads("[3]", 0, NULL);
    former_complete(&former, json);
    assert_int_equal(json_array_size(json), 1);
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_is_written_by_another, begin, end),
        cmocka_unit_test_setup_teardown(what_looks_like_it_is_no_path, begin, end),
        cmocka_unit_test_setup_teardown(a_path_may_end_in_slashes_and_have_them_twice, begin, end),
        cmocka_unit_test_setup_teardown(objects_of_cudnn_are_whole, begin, end),
        cmocka_unit_test_setup_teardown(paths_of_a_list_stand_behind_a_word, begin, end),
        cmocka_unit_test_setup_teardown(a_line_that_is_not_there_is_told, begin, end),
        cmocka_unit_test_setup_teardown(what_is_left_out_is_usual, begin, end),
        cmocka_unit_test_setup_teardown(time_and_process_are_those_of_the_line_before, begin, end),
        cmocka_unit_test_setup_teardown(its_room_is_bounded, begin, end),
        cmocka_unit_test_setup_teardown(other_versions_are_left_alone, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
