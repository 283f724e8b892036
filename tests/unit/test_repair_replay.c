/* SPDX-License-Identifier: Apache-2.0 */
/* A process once more, over its files: tools/diagnose/replay.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/demand/questions.h"
#include "support_environment.h"
#include "tools/diagnose/replay.h"

static bool finds(const struct outcome *o, const char *id) {
    return WC_ANY(f, o->findings, strcmp(f->id, id) == 0);
}

static const struct wc_object *facade_of(const struct outcome *o) {
    return WC_FIRST(object, o->source->stack.objects, object->r.role == WC_role_FACADE);
}

static void play(struct replay *r, const struct edit *edit, struct outcome *out) {
    replay_play(r, &(struct edits){edit, 1}, out);
    assert_null(out->why);
}

/* The host finds the wheel's cuDNN by its DT_RUNPATH, and requires a newer one. */
static void begin_too_old(struct environment *e, const char *variable) {
    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    put_host(e, "$ORIGIN/../nvidia/cudnn/lib", "nvidia-cudnn-cu12<10,>=9.8");
    observe(e, NULL, variable);
}

static void without_edits_it_shows_what_is_there(void **state) {
    struct environment *e = *state;
    struct outcome base = {.why = NULL};
    struct replay r;

    begin_too_old(e, NULL);
    assert_null(replay_begin(&r, e->log, &base));
    assert_null(base.why);
    assert_true(finds(&base, "runtime-too-old"));
    assert_string_equal(facade_of(&base)->r.version, "9.1.0");
    assert_int_not_equal(base.got[0].files, 0);
    outcome_end(&base);
    replay_end(&r);
}

static void an_edit_changes_what_comes_in(void **state) {
    struct environment *e = *state;
    const char *other = "/other";
    const struct edit edits[] = {
        {.kind = EDIT_INSTALL,
         .name = "nvidia-cudnn-cu12",
         .value = ">=9.8,<10",
         .environment = e->site},
        {.kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = other},
    };
    struct outcome base = {.why = NULL}, after;
    struct replay r;
    unsigned read;

    begin_too_old(e, NULL);
    put_library(e, in(e, "%s/libcudnn.so.9", other), "9.10.2");
    put_library(e, in(e, "%s/libcudnn_graph.so.9", other), "9.10.2");
    assert_null(replay_begin(&r, e->log, &base));
    for (size_t i = 0; i < 2; i++) {
        play(&r, &edits[i], &after);
        assert_false(finds(&after, "runtime-too-old"));
        assert_string_not_equal(facade_of(&after)->r.version, "9.1.0");
        outcome_end(&after);
    }
    /* What did not change is not read once more. */
    read = HASH_COUNT(r.library_cache->libraries);
    play(&r, &edits[1], &after);
    assert_string_equal(facade_of(&after)->r.version, "9.10.2");
    assert_int_equal(HASH_COUNT(r.library_cache->libraries), read);
    outcome_end(&after);
    outcome_end(&base);
    replay_end(&r);
}

static void what_is_taken_away_is_missing(void **state) {
    struct environment *e = *state;
    const struct edit away = {
        .kind = EDIT_REMOVE, .name = "nvidia-cudnn-cu12", .environment = e->site};
    struct outcome base = {.why = NULL}, after;
    struct replay r;

    begin_too_old(e, NULL);
    assert_null(replay_begin(&r, e->log, &base));
    play(&r, &away, &after);
    assert_int_equal(after.got[0].files, 0);
    assert_null(facade_of(&after));
    assert_false(WC_ANY(o, after.source->stack.objects, wc_str_same(o->r.path, e->host)));
    outcome_end(&after);
    outcome_end(&base);
    replay_end(&r);
}

/* A variable alone leads to the part: without it the facade asks for it in vain. */
static void a_part_that_is_found_no_more_is_missing(void **state) {
    struct environment *e = *state;
    const struct edit unset = {.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"};
    struct outcome base = {.why = NULL}, after;
    struct replay r;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", "libcudnn_graph.so.9");
    put_library(e, "/other/libcudnn_graph.so.9", "9.10.2");
    put_host(e, "$ORIGIN/../nvidia/cudnn/lib", "nvidia-cudnn-cu12<10,>=9.1");
    observe(e, NULL, "LD_LIBRARY_PATH=/other");
    assert_null(replay_begin(&r, e->log, &base));
    assert_true(finds(&base, "parts-differ"));
    assert_false(finds(&base, "part-missing"));
    play(&r, &unset, &after);
    assert_false(finds(&after, "parts-differ"));
    assert_true(finds(&after, "part-missing"));
    outcome_end(&after);
    outcome_end(&base);
    replay_end(&r);
}

/* A variable finds a bundled facade by another path (CTranslate2#1826): it asks as before, and no
 * other facade for it, which would find the part. */
static void a_facade_is_itself_by_any_path(void **state) {
    static const char grafted[] = "libcudnn-74a4c495.so.9.1.0";
    const char *needed[] = {"libcudnn.so.9", grafted, NULL};
    struct environment *e = *state;
    const struct edit set = {.kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = "/two.libs"};
    struct outcome base = {.why = NULL}, after;
    struct wc_record r;
    struct replay replay;

    put_library(e, "/one/libcudnn.so.9", "9.1.0");
    put_library(e, "/one/libcudnn_cnn.so.9", "9.1.0");
    write_image(in(e, "/two.libs/%s", grafted),
                &(struct image){.soname = grafted, .version = WC_VERSION_NONE});
    write_bytes("/two/beside", "", 0);
    put_host(e, NULL, NULL);
    write_image(e->host, &(struct image){.soname = "libframe.so",
                                         .needed = {needed, 2},
                                         .runpath = "/one:/two/../two.libs",
                                         .version = WC_VERSION_NONE});
    observe(e, NULL, NULL);
    wc_record_begin(&r, WC_KIND_failure);
    r.u.failure.request = 2;
    r.u.failure.operation = WC_operation_DLOPEN;
    r.u.failure.name = "libcudnn_cnn.so.9";
    r.u.failure.caller = in(e, "/two/../two.libs/%s", grafted);
    source_add(e->log, &r);
    assert_null(replay_begin(&replay, e->log, &base));
    assert_int_not_equal(base.got[0].files, 0);
    assert_int_equal(base.got[1].files, 0);
    play(&replay, &set, &after);
    assert_int_not_equal(after.got[0].files, 0);
    assert_int_equal(after.got[1].files, 0);
    outcome_end(&after);
    outcome_end(&base);
    replay_end(&replay);
}

/* What failed for a reason that no file shows fails again, until another file comes in. */
static void what_was_refused_is_refused_again(void **state) {
    struct environment *e = *state;
    static const char words[] = "libcudnn.so.9: cannot enable executable stack";
    const struct edit order = {.kind = EDIT_IMPORT_FIRST, .name = "frame", .value = "other"};
    const struct edit newer = {.kind = EDIT_INSTALL,
                               .name = "nvidia-cudnn-cu12",
                               .value = ">=9.8,<10",
                               .environment = e->site};
    struct outcome base = {.why = NULL}, after;
    struct wc_record r;
    struct replay replay;

    begin_too_old(e, NULL);
    wc_record_begin(&r, WC_KIND_failure);
    r.u.failure.request = 1;
    r.u.failure.operation = WC_operation_DLOPEN;
    r.u.failure.name = e->host;
    r.u.failure.text = words;
    source_add(e->log, &r);
    assert_null(replay_begin(&replay, e->log, &base));
    assert_int_equal(base.got[0].files, 0);
    assert_true(WC_ANY(f, base.source->stack.failures, wc_str_same(f->r.text, words)));
    play(&replay, &order, &after);
    assert_int_equal(after.got[0].files, 0);
    outcome_end(&after);
    play(&replay, &newer, &after);
    assert_int_not_equal(after.got[0].files, 0);
    assert_false(WC_ANY(f, after.source->stack.failures, wc_str_same(f->r.text, words)));
    outcome_end(&after);
    outcome_end(&base);
    replay_end(&replay);
}

/* Nobody has wanted anything of the facade yet: none of its parts is there for others to find. */
static void an_idle_facade_has_no_parts(void **state) {
    const char *needed[] = {"libcudnn_adv.so.9", NULL};
    struct environment *e = *state;
    const struct edit again = {.kind = EDIT_REINSTALL,
                               .name = "nvidia-cudnn-cu12",
                               .value = "9.1.0.70",
                               .environment = e->site};
    struct outcome base = {.why = NULL}, after;
    struct wc_record r;
    struct replay replay;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    write_image(in(e, "%s/nvidia/cudnn/lib/libz.so.1", e->site),
                &(struct image){.soname = "libz.so.1", .version = WC_VERSION_NONE});
    put_host(e, NULL, NULL);
    write_image(e->host, &(struct image){.soname = "libframe.so",
                                         .needed = {needed, 1},
                                         .version = WC_VERSION_NONE});
    observe(e, NULL, in(e, "LD_PRELOAD=%s/nvidia/cudnn/lib/libcudnn.so.9", e->site));
    wc_record_begin(&r, WC_KIND_object);
    r.u.object.object = 2;
    r.u.object.role = WC_role_FACADE;
    r.u.object.mapped = true;
    r.u.object.path = in(e, "%s/nvidia/cudnn/lib/libcudnn.so.9", e->site);
    source_add(e->log, &r);
    assert_null(replay_begin(&replay, e->log, &base));
    assert_int_equal(base.got[0].files, 0);
    play(&replay, &again, &after);
    assert_int_equal(after.got[0].files, 0);
    outcome_end(&after);
    outcome_end(&base);
    replay_end(&replay);
}

/* onnxruntime.preload_dlls opens each file by its path, or, where that is not there, by its name.
 */
static void a_call_opens_by_its_path_what_is_there_then(void **state) {
    struct environment *e = *state;
    static const char ctypes[] = "/usr/lib/python3.12/lib-dynload/_ctypes.cpython-312.so";
    static const struct {
        const char *with, *without;
    } rows[] = {{"libcublasLt.so.12", "libcudnn.so.9"},
                {"libother.so", "libcudnn.so.9"},
                {"libcublasLt.so.12", NULL}}; /* it was there, and the request got another one */

    for (size_t i = 0; i < 3; i++) {
        const struct edit again = {.kind = EDIT_REINSTALL,
                                   .name = "nvidia-cudnn-cu12",
                                   .value = "9.1.0.70",
                                   .environment = e->site};
        struct outcome base = {.why = NULL}, after;
        struct wc_record r;
        struct replay replay;
        put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", rows[i].without);
        put_host(e, NULL, NULL);
        e->host = in(e, "%s/onnxruntime/capi/state.so", e->site);
        write_image(e->host, &(struct image){.soname = "state.so", .version = WC_VERSION_NONE});
        write_image(ctypes, &(struct image){.soname = "_ctypes.so", .version = WC_VERSION_NONE});
        observe(e, NULL, NULL);
        wc_record_begin(&r, WC_KIND_request);
        r.u.request.operation = WC_operation_DLOPEN;
        r.u.request.caller = ctypes;
        r.u.request.request = 2;
        r.u.request.name = rows[i].with;
        source_add(e->log, &r);
        r.u.request.request = 3;
        r.u.request.name = "libcudnn.so.9";
        source_add(e->log, &r);
        assert_null(replay_begin(&replay, e->log, &base));
        assert_int_equal(base.got[2].files, 0);
        play(&replay, &again, &after);
        assert_int_equal(after.got[2].files != 0, i == 0);
        outcome_end(&after);
        outcome_end(&base);
        replay_end(&replay);
        e = another(state);
    }
}

static void demands_that_no_file_states_are_carried_over(void **state) {
    struct environment *e = *state;
    struct outcome base = {.why = NULL};
    struct wc_record r;
    struct replay replay;

    begin_too_old(e, NULL);
    wc_record_begin(&r, WC_KIND_demand);
    r.u.demand.demand_kind = WC_demand_kind_EXPECTATION;
    r.u.demand.spec = "==9.8.*";
    r.u.demand.source = "WHICHCUDNN_EXPECT";
    source_add(e->log, &r);
    assert_null(replay_begin(&replay, e->log, &base));
    assert_true(
        WC_ANY(d, base.source->stack.demands, d->r.demand_kind == WC_demand_kind_EXPECTATION));
    outcome_end(&base);
    replay_end(&replay);
}

static void another_computer_is_not_replayed(void **state) {
    struct environment *e = *state;
    struct outcome base = {.why = NULL};
    struct replay r;

    begin_too_old(e, NULL);
    source_free(e->log);
    observe(e, "another-node", NULL);
    assert_string_equal(replay_begin(&r, e->log, &base), "the program ran on another machine");
    replay_end(&r);
}

#define IN_ENVIRONMENT(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, begin_environment, end_environment)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_ENVIRONMENT(without_edits_it_shows_what_is_there),
        IN_ENVIRONMENT(an_edit_changes_what_comes_in),
        IN_ENVIRONMENT(what_is_taken_away_is_missing),
        IN_ENVIRONMENT(a_part_that_is_found_no_more_is_missing),
        IN_ENVIRONMENT(a_facade_is_itself_by_any_path),
        IN_ENVIRONMENT(what_was_refused_is_refused_again),
        IN_ENVIRONMENT(an_idle_facade_has_no_parts),
        IN_ENVIRONMENT(demands_that_no_file_states_are_carried_over),
        IN_ENVIRONMENT(a_call_opens_by_its_path_what_is_there_then),
        IN_ENVIRONMENT(another_computer_is_not_replayed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
