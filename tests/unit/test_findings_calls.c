/* SPDX-License-Identifier: Apache-2.0 */
/* What calls returned, and why: driver-missing, init-failed, call-failed; not-observed. */
#include "support_stack.h"

struct program {
    struct scene *s;
    struct wc_version v;
    int64_t host, facade;
};

/* A sound set, and a computer with or without a driver. */
static struct program sound(int major, const char *driver, int64_t gpus) {
    struct program p = {.s = new_scene(), .v = draw_release(major)};
    p.host = add_host(p.s, "/opt/app/libhost.so");
    p.facade = add_facade(p.s, "/opt/cudnn", p.v, p.host);
    if (major >= 9)
        add_part(p.s, "/opt/cudnn", "graph", p.v, p.facade);
    add_machine(p.s, driver, gpus);
    return p;
}

/* The shim judges anew only then; that nothing else matters is asserted for each record of a scene.
 */
static void few_records_matter(void **state) {
    struct wc_record r = begin(WC_KIND_object);
    (void)state;
    assert_true(wc_changes_findings(&r));
    r = begin(WC_KIND_request);
    assert_false(wc_changes_findings(&r));
    r = begin(WC_KIND_call);
    r.u.call.phase = WC_phase_BEFORE;
    r.u.call.function = "cudnnGetVersion";
    assert_false(wc_changes_findings(&r));
    r.u.call.function = "cudnnCreate";
    assert_true(wc_changes_findings(&r));
    r.u.call.phase = WC_phase_AFTER;
    r.u.call.status = 0;
    assert_false(wc_changes_findings(&r));
    r.u.call.status = 1;
    assert_true(wc_changes_findings(&r));
    r.u.call.status = WC_NULL;
    r.u.call.returned_version = 90100;
    assert_true(wc_changes_findings(&r));
}

static int not_initialized(int major) {
    return major < 9 ? 1 : 1001;
}

static void create_fails_for_want_of_a_driver(void **state) {
    (void)state;
    for (int major = 4; major <= 10; major++) {
        struct program p = sound(major, NULL, 0);
        assert_finds(p.s, "");
        add_call(p.s, "cudnnCreate", p.host, p.facade, 0, WC_NULL);
        assert_finds(p.s, "");
        add_call(p.s, "cudnnCreate", p.host, p.facade, not_initialized(major), WC_NULL);
        assert_finds(p.s, "driver-missing");
        assert_int_equal(p.s->found.p[0].severity, WC_severity_ERROR);
        assert_int_equal(p.s->found.p[0].host, p.host);
        assert_true(has_fact(&p.s->found.p[0], "init-failed", "NOT_INITIALIZED"));
        assert_true(has_fact(&p.s->found.p[0], "GPU devices", "none"));
        /* The other major's number is no such status. */
        p = sound(major, NULL, 0);
        add_call(p.s, "cudnnCreate", p.host, p.facade, major < 9 ? 1001 : 1, WC_NULL);
        assert_finds(p.s, "init-failed");
    }
}

static void with_a_driver_a_failed_create_stands_alone(void **state) {
    (void)state;
    struct program p = sound(9, "535.104.05", 1);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "init-failed");
    assert_null(p.s->found.p[0].explained_by);
    assert_non_null(strstr(p.s->found.p[0].title, "CUDNN_STATUS_NOT_INITIALIZED"));
    /* Nor does it mean a missing driver where a device is seen, where the driver has no such
     * module, or where nothing is known of the computer. */
    p = sound(9, NULL, 2);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "init-failed");
    p = sound(9, NULL, WC_NULL);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "init-failed");
    p = sound(9, "WSL", 0);
    struct file cuda = {.role = WC_role_CUDA_DEPENDENCY,
                        .part = "cuda",
                        .path = "/wsl/lib/libcuda.so.1",
                        .version = WC_VERSION_NONE,
                        .asked_by = NOBODY};
    add_file(p.s, &cuda);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "init-failed");
    struct scene *s = new_scene(); /* libcuda before anything else */
    add_file(s, &cuda);
    add_machine(s, "Tegra", 0);
    add_call(s, "cudnnCreate", add_host(s, "/opt/app/libhost.so"), NOBODY, 1001, WC_NULL);
    assert_finds(s, "init-failed");
    p = sound(9, NULL, 0);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    p.s->stack.has_machine = false;
    assert_finds(p.s, "init-failed");
}

/* libcuda was asked for by somebody who needs it, or in passing. */
static void a_request_for_libcuda_that_failed(void **state) {
    (void)state;
    struct program p = sound(9, NULL, 0);
    int64_t graph = 3;
    add_failure(p.s, graph, NULL, "libcuda.so.1", not_found(p.s, "libcuda.so.1"));
    /* Some parts ask when they are loaded: nobody has needed the driver yet. */
    assert_finds(p.s, "");
    add_call(p.s, "cudnnGetVersion", p.host, p.facade, WC_NULL, 90000);
    add_call(p.s, "cudnnOpsVersionCheck", p.host, p.facade, 0, WC_NULL);
    assert_finds(p.s, "");
    add_call_before(p.s, "cudnnCreate", p.host, p.facade);
    assert_finds(p.s, "driver-missing");
    assert_int_equal(p.s->found.p[0].severity, WC_severity_ERROR);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "driver-missing");
    p = sound(9, NULL, 0);
    add_failure(p.s, NOBODY, "/cuda/libcufile.so.0", "libcuda.so.1", NULL);
    assert_finds(p.s, "driver-missing");
    assert_int_equal(p.s->found.p[0].severity, WC_severity_NOTE);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "driver-missing");
    assert_int_equal(p.s->found.p[0].severity, WC_severity_ERROR);
    /* A GPU is there, and in reach. */
    static const struct {
        const char *driver;
        int64_t gpus;
        const char *name;
        enum wc_severity severity;
    } rows[] = {{"535.104.05", 1, "libcuda.so.1", WC_severity_WARNING},
                {"535.104.05", 8, "libcuda.so.1", WC_severity_WARNING},
                {"535.104.05", 1, "libcuda.so", WC_severity_NOTE},
                {"535.104.05", 0, "libcuda.so.1", WC_severity_NOTE},
                {"535.104.05", WC_NULL, "libcuda.so.1", WC_severity_NOTE},
                {NULL, 1, "libcuda.so.1", WC_severity_NOTE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        add_machine(s, rows[i].driver, rows[i].gpus);
        add_failure(s, NOBODY, "/opt/bin/train", rows[i].name, not_found(s, rows[i].name));
        assert_finds(s, "driver-missing");
        assert_int_equal(s->found.p[0].severity, rows[i].severity);
    }
    /* One name did not work, another one did. */
    p = sound(9, "535.104.05", 1);
    add_failure(p.s, p.host, NULL, "libcuda.so", not_found(p.s, "libcuda.so"));
    struct file cuda = {.role = WC_role_CUDA_DEPENDENCY,
                        .part = "cuda",
                        .path = "/lib/libcuda.so.1",
                        .version = WC_VERSION_NONE,
                        .asked_by = NOBODY};
    add_file(p.s, &cuda);
    assert_finds(p.s, "");
}

static void the_program_ended(struct scene *s, enum wc_ending how, int64_t status) {
    struct wc_record r = begin(WC_KIND_outcome);
    r.u.outcome.ending = how;
    r.u.outcome.exit_status = how == WC_ending_EXITED ? status : WC_NULL;
    apply(s, &r);
}

static void assert_severity(struct scene *s, enum wc_severity severity) {
    assert_finds(s, "driver-missing");
    assert_int_equal(s->found.p[0].severity, severity);
}

/* cuBLASLt asks for it in passing; a host that asked for the version alone may have refused that.
 */
static void a_version_that_may_be_refused_goes_before_a_question_in_passing(void **state) {
    (void)state;
    struct program p = sound(8, NULL, 0);
    add_failure(p.s, NOBODY, "/cuda/libcublasLt.so.11", "libcuda.so.1", NULL);
    the_program_ended(p.s, WC_ending_EXITED, 1);
    assert_severity(p.s, WC_severity_ERROR);
    add_call(p.s, "cudnnGetVersion", p.host, p.facade, WC_NULL, 8500);
    assert_severity(p.s, WC_severity_NOTE);
}

/* Whoever asked, and whatever had failed before: what went on is a warning, what failed an error.
 */
static void the_end_decides_how_bad_it_is(void **state) {
    (void)state;
    for (int who = 0; who < 4; who++) {
        static const enum wc_severity at_work[] = {WC_severity_WARNING, WC_severity_ERROR,
                                                   WC_severity_ERROR, WC_severity_NOTE};
        for (int end = 0; end < 4; end++) {
            struct program p = sound(9, NULL, 0);
            if (who == 0) /* TensorFlow, JAX */
                add_failure(p.s, p.host, NULL, "libcuda.so.1", not_found(p.s, "libcuda.so.1"));
            else if (who == 1) /* ONNX Runtime */
                add_failure(p.s, p.host, NULL, "/v/libprovider.so", not_found(p.s, "libcuda.so.1"));
            else if (who == 2)
                add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
            else /* PyTorch: libcudart asks */
                add_failure(p.s, NOBODY, "/cuda/libcudart.so.12", "libcuda.so.1", NULL);
            assert_severity(p.s, at_work[who]);
            the_program_ended(p.s, end < 3 ? WC_ending_EXITED : WC_ending_SIGNALED, end);
            assert_severity(p.s, end        ? WC_severity_ERROR
                                 : who == 3 ? WC_severity_NOTE
                                            : WC_severity_WARNING);
        }
    }
}

/* A question in passing is not blamed for what has another cause. */
static void a_bad_end_with_another_cause(void **state) {
    (void)state;
    struct program p = sound(9, NULL, 0);
    add_failure(p.s, NOBODY, "/cuda/libcudart.so.12", "libcuda.so.1", NULL);
    struct want w = {p.host, WC_demand_kind_BUILT, .built = "10.1.0", .rule = "torch"};
    add_demand(p.s, &w);
    the_program_ended(p.s, WC_ending_EXITED, 1);
    assert_finds(p.s, "major-differs driver-missing");
    assert_int_equal(p.s->found.p[1].severity, WC_severity_NOTE);
}

static void a_container_gets_its_own_advice(void **state) {
    (void)state;
    struct program p = sound(9, NULL, 0);
    struct wc_record r = begin(WC_KIND_machine);
    r.u.machine.container = "docker";
    r.u.machine.gpu_devices = 0;
    apply(p.s, &r);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "driver-missing");
    assert_advised(p.s, &p.s->found.p[0], "driver", "--gpus all");
    assert_true(has_fact(&p.s->found.p[0], "container", "docker"));
}

static void a_symptom_stands_behind_its_cause(void **state) {
    (void)state;
    struct program p = sound(9, "535.104.05", 1);
    add_part(p.s, "/opt/cudnn", "ops", other_minor(p.v, 1), p.facade);
    add_call(p.s, "cudnnOpsVersionCheck", p.host, p.facade, 1002, WC_NULL);
    add_call(p.s, "cudnnCreate", p.host, p.facade, 1001, WC_NULL);
    assert_finds(p.s, "parts-differ init-failed call-failed");
    assert_string_equal(p.s->found.p[1].explained_by, "parts-differ");
    assert_string_equal(p.s->found.p[2].explained_by, "parts-differ");
    /* What happened in another copy explains nothing. */
    int64_t other = add_facade(p.s, "/opt/other", p.v, p.host);
    add_part(p.s, "/opt/other", "graph", p.v, other);
    add_call(p.s, "cudnnGraphVersionCheck", p.host, other, 1002, WC_NULL);
    assert_finds(p.s, "parts-differ init-failed call-failed call-failed two-copies-loaded");
    assert_null(p.s->found.p[3].explained_by);
}

/* A part of another release under the name of its neighbours, with nothing inside that tells. */
static void what_cudnn_says_of_its_parts_is_believed(void **state) {
    (void)state;
    for (int32_t major = 8; major <= 9; major++)
        for (int seen = 0; seen < 2; seen++) {
            struct program p = sound(major, "535.104.05", 1);
            const char *part = major == 9 ? "heuristic" : "adv_train";
            struct file f = {.role = WC_role_PART,
                             .path = print(p.s, "/opt/cudnn/libcudnn_%s.so.%d", part, major),
                             .part = part,
                             .version = p.v,
                             .source = WC_version_source_FILE_NAME,
                             .asked_by = p.facade,
                             .how = WC_operation_DLOPEN};
            if (seen)
                f.version = other_minor(p.v, 1), f.source = WC_version_source_BUILD_STRING;
            add_file(p.s, &f);
            assert_finds(p.s, seen ? major == 9 ? "parts-differ" : "facade-and-parts-differ" : "");
            add_call(p.s, "cudnnBackendFinalize", p.host, p.facade, major == 9 ? 1002 : 14,
                     WC_NULL);
            assert_finds(p.s, seen && major == 8 ? "facade-and-parts-differ call-failed"
                                                 : "parts-differ call-failed");
            assert_string_equal(p.s->found.p[1].explained_by, p.s->found.p[0].id);
            assert_true(seen || strstr(p.s->found.p[0].title, "cuDNN says"));
            assert_true(seen || has_fact(&p.s->found.p[0], "nothing inside tells the release of",
                                         print(p.s, "libcudnn_%s.so.%d", part, major)));
        }
}

/* A part from elsewhere, of which only the major is known (CUDA.jl#1896); or those of another copy,
 * which a facade without parts uses (koharu#694). Nothing is said of what is known to fit. */
static void what_it_says_of_parts_from_elsewhere_is_believed(void **state) {
    (void)state;
    for (int32_t major = 8; major <= 9; major++)
        for (int own = 0; own < 2; own++)
            for (int known = 0; known < 2; known++) {
                struct scene *s = new_scene();
                struct wc_version v = draw_release(major);
                int64_t host = add_host(s, "/opt/app/libhost.so");
                int64_t facade = add_facade(s, "/opt/cudnn", v, host);
                if (!own)
                    add_facade(s, "/opt/app/lib", v, host);
                struct file f = {.role = WC_role_PART,
                                 .path = print(s, "/opt/app/lib/libcudnn_%s.so.%d",
                                               major == 9 ? "graph" : "ops_infer", major),
                                 .part = major == 9 ? "graph" : "ops_infer",
                                 .version = known ? v : WC_VERSION_NONE,
                                 .source = known ? WC_version_source_BUILD_STRING
                                                 : WC_version_source_UNKNOWN,
                                 .asked_by = own ? facade : host,
                                 .how = WC_operation_DLOPEN};
                add_file(s, &f);
                add_call(s, "cudnnCreate", host, facade, major == 9 ? 1002 : 14, WC_NULL);
                assert_finds(s, print(s, "%sinit-failed %s", known ? "" : "parts-differ ",
                                      own ? "part-from-other-installation" : "two-copies-loaded"));
                if (known)
                    continue;
                assert_int_equal(s->found.p[0].object, facade);
                assert_string_equal(s->found.p[1].explained_by, "parts-differ");
                assert_true(
                    has_fact(&s->found.p[0], f.part,
                             print(s, "%d (which release is unknown)  /opt/app/lib", major)));
            }
}

static void eight_has_a_status_of_its_own_for_versions(void **state) {
    (void)state;
    struct program p = sound(8, "535.104.05", 1);
    add_part(p.s, "/opt/cudnn", "ops_infer", other_minor(p.v, -1), p.facade);
    add_call(p.s, "cudnnOpsInferVersionCheck", p.host, p.facade, 14, WC_NULL);
    assert_finds(p.s, "facade-and-parts-differ call-failed");
    assert_string_equal(p.s->found.p[1].explained_by, "facade-and-parts-differ");
    assert_non_null(strstr(p.s->found.p[1].title, "CUDNN_STATUS_VERSION_MISMATCH"));
}

static void answers_are_no_failures(void **state) {
    (void)state;
    struct program p = sound(9, "535.104.05", 1);
    add_call(p.s, "cudnnBackendFinalize", p.host, p.facade, 3000, WC_NULL);
    add_call(p.s, "cudnnBackendFinalize", p.host, p.facade, 3003, WC_NULL);
    add_call(p.s, "cudnnBackendFinalize", p.host, p.facade, 0, WC_NULL);
    add_call(p.s, "cudnnGetErrorString", p.host, p.facade, WC_NULL, WC_NULL);
    assert_finds(p.s, "");
    add_call(p.s, "cudnnBackendExecute", p.host, p.facade, 5000, WC_NULL);
    add_call(p.s, "cudnnBackendExecute", p.host, p.facade, 5000, WC_NULL);
    add_call(p.s, "cudnnBackendExecute", p.host, p.facade, 4242, WC_NULL);
    assert_finds(p.s, "call-failed call-failed");
    assert_non_null(strstr(p.s->found.p[0].title, "CUDNN_STATUS_EXECUTION_FAILED"));
    assert_non_null(strstr(p.s->found.p[1].title, "4242"));
    p = sound(8, "535.104.05", 1);
    add_call(p.s, "cudnnConvolutionForward", p.host, p.facade, 9, WC_NULL);
    assert_finds(p.s, "");
    add_call(p.s, "cudnnConvolutionForward", p.host, p.facade, 8, WC_NULL);
    assert_finds(p.s, "call-failed");
}

static void a_call_that_has_not_come_back_has_not_failed(void **state) {
    (void)state;
    struct program p = sound(9, "535.104.05", 1);
    struct wc_record r = begin(WC_KIND_call);
    r.u.call.function = "cudnnCreate";
    r.u.call.phase = WC_phase_BEFORE;
    r.u.call.target = p.facade;
    r.u.call.status = 1001;
    apply(p.s, &r);
    assert_finds(p.s, "");
}

static void what_was_not_seen_is_one_note(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_blind(s, "another namespace", "the loader shows it only to those inside");
    assert_finds(s, "not-observed");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_NOT_OBSERVED);
    add_blind(s, "a slot", "its page cannot be written");
    add_host(s, "/opt/app/libhost.so");
    assert_finds(s, "not-observed");
    assert_true(has_fact(&s->found.p[0], "another namespace", "the loader shows it"));
    assert_true(has_fact(&s->found.p[0], "a slot", "its page"));
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_NOTES);
}

static void nothing_is_neither_good_nor_bad(void **state) {
    (void)state;
    struct scene *s = new_scene();
    assert_finds(s, "");
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_NOT_OBSERVED);
    add_machine(s, NULL, 0);
    assert_finds(s, "");
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_NOT_OBSERVED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_records_matter),
        cmocka_unit_test(create_fails_for_want_of_a_driver),
        cmocka_unit_test(with_a_driver_a_failed_create_stands_alone),
        cmocka_unit_test(the_end_decides_how_bad_it_is),
        cmocka_unit_test(a_bad_end_with_another_cause),
        cmocka_unit_test(a_version_that_may_be_refused_goes_before_a_question_in_passing),
        cmocka_unit_test(a_request_for_libcuda_that_failed),
        cmocka_unit_test(a_container_gets_its_own_advice),
        cmocka_unit_test(a_symptom_stands_behind_its_cause),
        cmocka_unit_test(what_cudnn_says_of_its_parts_is_believed),
        cmocka_unit_test(what_it_says_of_parts_from_elsewhere_is_believed),
        cmocka_unit_test(eight_has_a_status_of_its_own_for_versions),
        cmocka_unit_test(answers_are_no_failures),
        cmocka_unit_test(a_call_that_has_not_come_back_has_not_failed),
        cmocka_unit_test(what_was_not_seen_is_one_note),
        cmocka_unit_test(nothing_is_neither_good_nor_bad),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
