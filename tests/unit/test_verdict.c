/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict over generated stacks: each end, each severity, each fault, each gap, and what must
 * never come out of them. What is expected is decided here a second time, in other words.
 */
#include "cudnn_knowledge.inc"
#include "support_stack.h"

enum end_drawn { RUNS, NORMAL, ASSUMED, UNKNOWN, WELL, STATUS_1, KILLED, COMMAND_FAILED, ENDS };
enum fault { NONE, LOOKUP, LIBRARY_OF_CUDA, CUDNN_IN_VAIN, CUDNN_THEN_FOUND, FAULTS };
enum gap { NO_GAP, LOST_OUTSIDE, LOST_INSIDE, GAPS };

struct drawn {
    enum end_drawn end;
    enum fault fault;
    enum gap gap;
    enum wc_severity severity;
    bool cudnn;
};

static void add_lookup(struct scene *s, int64_t caller) {
    struct wc_record r = begin(WC_KIND_failure);
    r.u.failure.operation = WC_operation_DLSYM;
    r.u.failure.function = "cudnnOfTomorrow";
    r.u.failure.caller_object = caller;
    apply(s, &r);
}

static struct wc_outside add_end(struct scene *s, enum end_drawn end) {
    static const enum wc_end outside[ENDS] = {[RUNS] = WC_END_RUNS,
                                              [NORMAL] = WC_END_NORMAL,
                                              [ASSUMED] = WC_END_ASSUMED,
                                              [COMMAND_FAILED] = WC_END_FAILED};
    if (end == WELL || end == STATUS_1)
        add_outcome(s, end == STATUS_1, NULL);
    else if (end == KILLED)
        add_outcome(s, 0, "SIGSEGV");
    return (struct wc_outside){.end = outside[end],
                               .how = end == COMMAND_FAILED ? "belongs to what failed" : NULL};
}

static void add_fault(struct scene *s, enum fault fault, int64_t host) {
    if (fault == LOOKUP)
        add_lookup(s, host);
    else if (fault == LIBRARY_OF_CUDA)
        add_failure(s, host, NULL, "libcufft.so.11", NULL);
    else if (fault == CUDNN_IN_VAIN || fault == CUDNN_THEN_FOUND)
        add_failure(s, host, NULL, "libcudnn.so.77", NULL);
}

static struct scene *build(const struct drawn *d, struct wc_outside *outside) {
    struct scene *s = new_scene();
    int64_t host = d->cudnn ? add_host(s, "/opt/app/libhost.so") : NOBODY;
    bool late = d->fault == CUDNN_THEN_FOUND;

    add_machine(s, "535.104.05", 1);
    if (late)
        add_fault(s, d->fault, host);
    if (d->cudnn || late)
        add_facade(s, "/opt/cudnn", version_of(9, 4, 0), host);
    if (!late)
        add_fault(s, d->fault, host);
    *outside = add_end(s, d->end);
    outside->lost = d->gap == LOST_OUTSIDE;
    if (d->gap == LOST_INSIDE)
        add_blind(s, WC_UNOBSERVED_RECORDS, "No space left on device");
    return s;
}

static bool ended_badly(enum end_drawn end) {
    return end == STATUS_1 || end == KILLED || end == COMMAND_FAILED;
}

static bool is_about_cudnn(const struct drawn *d) {
    return d->cudnn || d->fault == LOOKUP || d->fault == CUDNN_IN_VAIN ||
           d->fault == CUDNN_THEN_FOUND;
}

static enum wc_verdict expected(const struct drawn *d) {
    if (d->severity == WC_severity_ERROR)
        return WC_verdict_ERRORS;
    if (d->severity == WC_severity_WARNING)
        return WC_verdict_WARNINGS;
    if (d->fault == CUDNN_IN_VAIN && !(d->cudnn && d->end == WELL)) /* with the one that it had */
        return WC_verdict_UNEXPLAINED;
    if (ended_badly(d->end) && (is_about_cudnn(d) || d->fault != NONE))
        return WC_verdict_UNEXPLAINED;
    if (!is_about_cudnn(d) || d->gap != NO_GAP || d->end == UNKNOWN)
        return WC_verdict_NOT_OBSERVED;
    return d->severity == WC_severity_NOTE ? WC_verdict_NOTES : WC_verdict_OK;
}

static bool expected_to_pass(const struct drawn *d) {
    switch (expected(d)) {
    case WC_verdict_UNEXPLAINED:
        return false;
    case WC_verdict_NOT_OBSERVED:
        return d->gap == NO_GAP && (d->end != UNKNOWN || !is_about_cudnn(d));
    default:
        return true;
    }
}

static void check(const struct drawn *d) {
    struct wc_finding_record told = {
        .id = "two-copies-loaded", .severity = d->severity, .title = "a thing"};
    struct wc_findings found = {&told, d->severity != WC_severity_NONE, 0};
    struct wc_conclusion with, without;
    struct wc_outside outside;
    struct scene *s = build(d, &outside);
    char scene[128];

    snprintf(scene, sizeof scene, "end %d fault %d gap %d severity %d cudnn %d", d->end, d->fault,
             d->gap, d->severity, d->cudnn);
    memset(s->scratch, 0, sizeof s->scratch);
    wc_buffer_arena_begin(&s->printed, s->scratch, sizeof s->scratch);
    wc_conclude(&s->stack, &found, &outside, &s->printed.arena, &with);
    wc_conclude(&s->stack, &found, &outside, NULL, &without);
    if (with.verdict != expected(d) || with.passes != expected_to_pass(d))
        print_message("# %s: %s, %s\n", scene, wc_enum_word_raw(WC_ENUM_verdict, with.verdict),
                      with.passes ? "passes" : "does not pass");
    assert_int_equal(with.verdict, expected(d));
    assert_int_equal(with.passes, expected_to_pass(d));
    assert_int_equal(without.verdict, with.verdict);
    assert_int_equal(without.limits, with.limits);
    assert_true(with.text && *with.text && printable(with.text));
    assert_int_equal(with.died, ended_badly(d->end));
    assert_int_equal(!!(with.limits & WC_LIMIT(DIED)), ended_badly(d->end));
    /* Whatever else is changed: */
    if (ended_badly(d->end))
        assert_true(with.verdict != WC_verdict_OK && with.verdict != WC_verdict_NOTES);
    assert_int_equal(with.next != NULL, with.verdict == WC_verdict_UNEXPLAINED ||
                                            (with.died && with.verdict != WC_verdict_ERRORS));
    assert_true(with.known.n == 0 || with.verdict == WC_verdict_UNEXPLAINED);
    if (d->cudnn)
        assert_true(with.copies.n > 0 && strstr(with.copies.p[0], "cuDNN 9.4.0"));
    assert_int_equal(with.finding != NULL, with.verdict == WC_verdict_ERRORS ||
                                               with.verdict == WC_verdict_WARNINGS ||
                                               with.verdict == WC_verdict_NOTES);
}

static void every_combination(void **state) {
    struct drawn d;
    size_t n = 0;

    (void)state;
    for (d.end = 0; d.end < ENDS; d.end++)
        for (d.fault = 0; d.fault < FAULTS; d.fault++)
            for (d.gap = 0; d.gap < GAPS; d.gap++)
                for (d.severity = WC_severity_NONE; d.severity <= WC_severity_ERROR; d.severity++)
                    for (int cudnn = 0; cudnn < 2; cudnn++, n++) {
                        d.cudnn = cudnn;
                        check(&d);
                    }
    assert_int_equal(n, ENDS * FAULTS * GAPS * 4 * 2);
}

/* ---- what it says ---- */

static struct wc_conclusion conclude(struct scene *s, const struct wc_outside *outside) {
    static struct wc_conclusion c;

    diagnose(s);
    wc_conclude(&s->stack, &s->found, outside, &s->printed.arena, &c);
    return c;
}

static bool knows(const struct wc_conclusion *c, const char *words) {
    return WC_ANY(known, c->known, strstr(*known, words));
}

static void ok_says_what_for_whom(void **state) {
    (void)state;
    struct wc_version v = draw_release(9);
    struct scene *s = new_scene();
    struct file torch = {.role = WC_role_HOST,
                         .path = "/v/site-packages/torch/lib/libtorch_cuda.so",
                         .installation = "torch",
                         .installation_version = "2.15",
                         .kind = WC_installation_kind_WHEEL,
                         .asked_by = NOBODY};
    struct file second = torch;
    struct file facade = {.role = WC_role_FACADE,
                          .path = "/v/site-packages/nvidia/cudnn/lib/libcudnn.so.9",
                          .version = v,
                          .source = WC_version_source_ASKED_NAMES,
                          .installation = "nvidia-cudnn-cu12",
                          .kind = WC_installation_kind_WHEEL};
    const struct wc_outside runs = {.end = WC_END_RUNS};
    add_machine(s, "535.104.05", 1);
    facade.asked_by = add_file(s, &torch);
    second.path = "/v/site-packages/torch/lib/libtorch_python.so";
    add_file(s, &second);
    add_file(s, &facade);
    struct wc_conclusion c = conclude(s, &runs);
    assert_int_equal(c.verdict, WC_verdict_OK);
    assert_string_equal(c.text, print(s,
                                      "cuDNN %s from /v/site-packages/nvidia/cudnn/lib "
                                      "(nvidia-cudnn-cu12) for torch 2.15",
                                      text_of(s, v)));
    assert_true(c.limits & WC_LIMIT(HOST_UNKNOWN));
}

/* A lock keeps no paths. */
static void without_a_path_no_directory_is_said(void **state) {
    (void)state;
    const struct wc_outside runs = {.end = WC_END_RUNS};
    struct scene *s = new_scene();
    struct file facade = {.role = WC_role_FACADE,
                          .soname = "libcudnn.so.9",
                          .version = version_of(9, 4, 0),
                          .installation = "nvidia-cudnn-cu12",
                          .kind = WC_installation_kind_WHEEL,
                          .asked_by = add_host(s, "/opt/app/libhost.so")};
    add_file(s, &facade);
    assert_string_equal(conclude(s, &runs).text, "cuDNN 9.4.0 (nvidia-cudnn-cu12) for libhost.so");
}

static void unexplained_says_what_is_known(void **state) {
    (void)state;
    struct drawn d = {.end = KILLED, .cudnn = true, .fault = LOOKUP};
    struct wc_outside outside;
    struct scene *s = build(&d, &outside);
    add_failure(s, NOBODY, "/opt/app/libhost.so", "/opt/app/libtorch_extra.so", NULL);
    struct wc_conclusion c = conclude(s, &outside);
    assert_int_equal(c.verdict, WC_verdict_UNEXPLAINED);
    assert_non_null(strstr(c.text, "SIGSEGV"));
    assert_non_null(strstr(c.copies.p[0], "cuDNN 9.4.0"));
    assert_true(knows(&c, "libtorch_extra.so"));
    assert_true(knows(&c, "cudnnOfTomorrow"));
    assert_string_equal(c.next, "whichcudnn run --text -- COMMAND");
}

/* Of a host that needs the parts alone it is not said that it got nothing. */
static void parts_without_a_facade(void **state) {
    (void)state;
    const struct wc_outside well = {.end = WC_END_WELL}, failed = {.end = WC_END_FAILED};
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libflow.so");
    add_part(s, "/opt/cudnn", "ops_infer", version_of(8, 9, 7), host);
    assert_string_equal(conclude(s, &well).text,
                        "parts of cuDNN 8.9.7 from /opt/cudnn for libflow.so");
    struct wc_conclusion c = conclude(s, &failed);
    assert_int_equal(c.copies.n, 1);
    assert_non_null(strstr(c.copies.p[0], "parts of cuDNN 8.9.7"));
}

static void a_host_of_several_libraries_counts_once(void **state) {
    (void)state;
    static const char *const packages[] = {"a", "b", "c", "torch", "torch"};
    const struct wc_outside failed = {.end = WC_END_FAILED};
    struct scene *s = new_scene();
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        struct file host = {.role = WC_role_HOST,
                            .path = print(s, "/v/site-packages/%s/lib%zu.so", packages[i], i),
                            .installation = packages[i],
                            .kind = WC_installation_kind_WHEEL,
                            .asked_by = NOBODY};
        add_file(s, &host);
    }
    assert_string_equal(conclude(s, &failed).copies.p[0],
                        "no cuDNN was loaded for a, b, c and 1 more");
}

/* Frameworks of that time print the numbers; of two copies each has its line, with its hosts. */
static void each_copy_has_its_line(void **state) {
    (void)state;
    const struct wc_outside failed = {.end = WC_END_FAILED};
    struct scene *s = new_scene();
    struct file old = {.role = WC_role_FACADE,
                       .path = "/old/libcudnn.so.5",
                       .version = version_of(5, 0, 5),
                       .source = WC_version_source_ASKED_NAMES},
                new = {.role = WC_role_FACADE,
                       .path = "/new/libcudnn.so.9",
                       .version = version_of(9, 4, 0),
                       .source = WC_version_source_ASKED_NAMES,
                       .kind = WC_installation_kind_DIRECTORY};
    old.asked_by = add_host(s, "/opt/app/libfirst.so");
    struct wc_conclusion c = conclude(s, &failed);
    assert_int_equal(c.copies.n, 1);
    assert_string_equal(c.copies.p[0], "no cuDNN was loaded for libfirst.so");
    new.asked_by = add_host(s, "/usr/lib/python3/lib-dynload/_ctypes.cpython-312.so");
    s->stack.process.arguments =
        (struct wc_strings){(const char *[]){"python", "/home/me/train.py"}, 2};
    add_file(s, &old);
    add_file(s, &new);
    c = conclude(s, &failed);
    assert_int_equal(c.copies.n, 2);
    assert_string_equal(c.copies.p[0],
                        "cuDNN 5.0.5 (5005, compatible with 5000) from /old for libfirst.so");
    assert_string_equal(c.copies.p[1], "cuDNN 9.4.0 from /new (in no package) for train.py");
}

/* The loader refused it, and nobody saw how the process ended: that is not called ok. Where it
 * ended well it is. */
static void a_load_that_was_refused_last(void **state) {
    (void)state;
    static const struct wc_outside well = {.end = WC_END_WELL};
    struct drawn d = {.end = NORMAL, .cudnn = true};
    struct wc_outside outside;
    struct scene *s = build(&d, &outside);
    struct wc_record summary = begin(WC_KIND_summary);
    apply(s, &summary);
    assert_int_equal(conclude(s, &outside).verdict, WC_verdict_OK);
    add_failure(s, NOBODY, "/opt/app/libhost.so", "/v/extension.so",
                "/v/extension.so: undefined symbol: _ZN3c106check");
    assert_int_equal(conclude(s, &outside).verdict, WC_verdict_UNEXPLAINED);
    assert_int_equal(conclude(s, &well).verdict, WC_verdict_OK);
}

static void what_came_under_another_name_is_not_told_as_missing(void **state) {
    (void)state;
    struct drawn d = {.end = KILLED, .cudnn = true};
    struct wc_outside outside;
    struct scene *s = build(&d, &outside);
    add_failed_part(s, 2, "graph", version_of(9, 4, 0), 3);
    add_part(s, "/opt/cudnn", "graph", version_of(9, 4, 0), 2);
    struct wc_conclusion c = conclude(s, &outside);
    assert_int_equal(c.verdict, WC_verdict_UNEXPLAINED);
    assert_false(knows(&c, "libcudnn_graph"));
}

static void what_a_framework_was_built_with_is_known_by_more_than_functions(void **state) {
    (void)state;
    const struct wc_outside runs = {.end = WC_END_RUNS};
    for (int framework = 0; framework < 2; framework++) {
        struct scene *s = new_scene();
        struct wc_record r = begin(WC_KIND_demand), host = begin(WC_KIND_object);
        host.u.object.object = r.u.demand.host = ++s->objects;
        host.u.object.role = WC_role_HOST;
        host.u.object.is_host = host.u.object.mapped = true;
        host.u.object.path = "/opt/app/libhost.so";
        host.u.object.framework = framework ? "torch" : NULL;
        apply(s, &host);
        r.u.demand.demand_kind = WC_demand_kind_SYMBOLS;
        r.u.demand.host_path = "/opt/app/libhost.so";
        apply(s, &r);
        add_facade(s, "/opt/cudnn", version_of(9, 4, 0), s->objects);
        assert_int_equal(!!(conclude(s, &runs).limits & WC_LIMIT(HOST_UNKNOWN)), framework);
    }
}

static void a_compiler_without_its_builtins_is_not_ok(void **state) {
    (void)state;
    const struct wc_outside runs = {.end = WC_END_RUNS};
    struct scene *s = new_scene();
    struct file compiler = {.role = WC_role_CUDA_DEPENDENCY,
                            .part = "nvrtc",
                            .path = "/opt/cuda/libnvrtc.so.12",
                            .asked_by = NOBODY};
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_facade(s, "/opt/cudnn", version_of(9, 4, 0), host);
    int64_t nvrtc = add_file(s, &compiler);
    assert_int_equal(conclude(s, &runs).verdict, WC_verdict_OK);
    add_failure(s, nvrtc, NULL, "libnvrtc-builtins.so.12.4", NULL);
    assert_int_equal(verdict_of(&s->stack, &(struct wc_findings){NULL, 0, 0}),
                     WC_verdict_UNEXPLAINED);
    /* Under another name it was there. */
    struct file builtins = {.role = WC_role_CUDA_DEPENDENCY,
                            .part = "nvrtc-builtins",
                            .path = "/opt/cuda/libnvrtc-builtins.so.12",
                            .asked_by = nvrtc};
    add_file(s, &builtins);
    assert_int_equal(verdict_of(&s->stack, &(struct wc_findings){NULL, 0, 0}), WC_verdict_OK);
}

static void a_release_of_tomorrow_limits(void **state) {
    (void)state;
    const struct wc_outside runs = {.end = WC_END_RUNS};
    struct wc_version newest = wc_version_of(WC_NEWEST_CUDNN);
    for (int step = 0; step < 2; step++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        add_facade(s, "/opt/cudnn", version_of(newest.major, newest.minor, newest.patch + step),
                   host);
        struct wc_conclusion c = conclude(s, &runs);
        assert_int_equal(c.verdict, WC_verdict_OK);
        assert_int_equal(!!(c.limits & WC_LIMIT(NEWER_THAN_TABLE)), step);
    }
}

static void every_limit_has_a_sentence(void **state) {
    (void)state;
    for (unsigned i = 1; i < WC_limit_COUNT; i++)
        assert_non_null(wc_limit_text((enum wc_limit)i));
    assert_null(wc_limit_text(WC_limit_NONE));
    assert_null(wc_limit_text(WC_limit_COUNT));
}

/* It is why nothing of cuDNN came to be asked for. */
static void a_driver_that_is_not_there_is_said_without_cudnn(void **state) {
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct drawn d = {.end = WELL};
        struct wc_outside outside;
        struct wc_conclusion c;
        struct scene *s = build(&d, &outside);
        struct wc_finding_record note = {.id = other ? "search-path-suspect" : "driver-missing",
                                         .title = "no NVIDIA driver",
                                         .severity = WC_severity_NOTE};
        wc_buffer_arena_begin(&s->printed, s->scratch, sizeof s->scratch);
        wc_conclude(&s->stack, &(struct wc_findings){&note, 1, 0}, &outside, &s->printed.arena, &c);
        assert_int_equal(c.verdict, WC_verdict_NOT_OBSERVED);
        assert_int_equal(strstr(c.text, "; no NVIDIA driver") == NULL, other);
    }
}

static void lost_findings_are_no_good_sign(void **state) {
    (void)state;
    struct drawn d = {.end = WELL, .cudnn = true};
    struct wc_outside outside;
    struct wc_conclusion c;
    struct scene *s = build(&d, &outside);
    wc_conclude(&s->stack, &(struct wc_findings){NULL, 0, 1}, &outside, NULL, &c);
    assert_int_equal(c.verdict, WC_verdict_NOT_OBSERVED);
    assert_false(c.passes);
}

int main(void) {
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
        cmocka_unit_test(ok_says_what_for_whom),
        cmocka_unit_test(without_a_path_no_directory_is_said),
        cmocka_unit_test(unexplained_says_what_is_known),
        cmocka_unit_test(a_load_that_was_refused_last),
        cmocka_unit_test(parts_without_a_facade),
        cmocka_unit_test(a_host_of_several_libraries_counts_once),
        cmocka_unit_test(each_copy_has_its_line),
        cmocka_unit_test(what_came_under_another_name_is_not_told_as_missing),
        cmocka_unit_test(what_a_framework_was_built_with_is_known_by_more_than_functions),
        cmocka_unit_test(a_compiler_without_its_builtins_is_not_ok),
        cmocka_unit_test(a_release_of_tomorrow_limits),
        cmocka_unit_test(every_limit_has_a_sentence),
        cmocka_unit_test(a_driver_that_is_not_there_is_said_without_cudnn),
        cmocka_unit_test(lost_findings_are_no_good_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
