/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose() over the stacks that were measured on real releases (tests/real/measured.md):
 * each with the finding that must come first, and its healthy twin, which has none. The versions
 * are drawn anew each time.
 */
#include "support_stack.h"

enum { ROUNDS = 60 };

static const char wheel[] = "/venv/lib/python3.11/site-packages/nvidia/cudnn/lib";
static const char toolkit[] = "/usr/local/cuda-13.0/lib64";

/* ---- mixed sets: a program that calls cudnnGetVersion and cudnnCreate, no driver ---- */

static void add_calls(struct scene *s, int64_t host, int64_t facade, int64_t version, int status) {
    add_machine(s, NULL, 0);
    add_call(s, "cudnnGetVersion", host, facade, WC_NULL, version);
    add_call(s, "cudnnCreate", host, facade, status, WC_NULL);
}

static const char *const nine[] = {"graph", "ops", "cnn", "adv"};

/* All parts of cuDNN 9 in one directory; cnn carries no number. */
static void add_parts(struct scene *s, const char *directory, struct wc_version v, int64_t facade) {
    for (size_t i = 0; i < 4; i++)
        add_part(s, directory, nine[i], strcmp(nine[i], "cnn") == 0 ? WC_VERSION_NONE : v, facade);
}

static void parts_of_another_release_beside_the_facade(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), w = other_minor(v, round % 2 ? 1 : -1);
        int64_t host = add_host(s, "/opt/app/host");
        int64_t facade = add_facade(s, "/opt/cudnn", v, host);
        add_parts(s, "/opt/cudnn", w, facade);
        add_calls(s, host, facade, (int64_t)wc_version_to_number(w), 1001);
        assert_finds(s, "facade-and-parts-differ driver-missing");
        const struct wc_finding_record *r = finding(s, "facade-and-parts-differ");
        assert_int_equal(r->severity, WC_severity_ERROR);
        assert_true(has_fact(r, "facade", text_of(s, v)));
        assert_true(has_fact(r, "graph", text_of(s, w)));
        assert_non_null(strstr(r->title, text_of(s, v)));
        assert_non_null(strstr(r->title, text_of(s, w)));
    }
}

/* On a GPU: facades of 9.1 to 9.26 over the parts of 9.19, and one of 9.19 over 9.14, compute. */
static void a_facade_that_was_seen_to_compute(void **state) {
    (void)state;
    static const struct {
        const char *function;
        int status;
        int64_t exit_status;
        enum wc_severity severity;
    } rows[] = {{"cudnnBackendExecute", 0, 0, WC_severity_WARNING},
                {"cudnnConvolutionForward", 0, 0, WC_severity_WARNING},
                {"cudnnConvolutionForward", 0, 1, WC_severity_ERROR},
                {"cudnnConvolutionForward", 3000, 0, WC_severity_ERROR},
                {"cudnnCreate", 0, 0, WC_severity_ERROR},
                {NULL, 0, 0, WC_severity_ERROR}};
    WC_EACH_ROW(row, rows) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9);
        int64_t host = add_host(s, "/opt/app/host");
        int64_t facade = add_facade(s, "/opt/cudnn", v, host);
        add_parts(s, "/opt/cudnn", other_minor(v, 1), facade);
        add_call(s, row->function, host, facade, row->status, WC_NULL);
        add_outcome(s, row->exit_status, NULL);
        diagnose(s);
        assert_int_equal(finding(s, "facade-and-parts-differ")->severity, row->severity);
        add_call(s, "cudnnRNNForward", host, facade, 1002, WC_NULL); /* and a part did not fit */
        diagnose(s);
        assert_int_equal(finding(s, "facade-and-parts-differ")->severity, WC_severity_ERROR);
    }
}

static void the_healthy_twin_of_a_mixed_set(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9);
        int64_t host = add_host(s, "/opt/app/host");
        int64_t facade = add_facade(s, "/opt/cudnn", v, host);
        add_parts(s, "/opt/cudnn", v, facade);
        assert_finds(s, "");
        assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_OK);
        add_calls(s, host, facade, (int64_t)wc_version_to_number(v), 1001);
        assert_finds(s, "driver-missing");
        assert_true(has_fact(&s->found.p[0], "init-failed", "CUDNN_STATUS_NOT_INITIALIZED"));
        assert_true(has_fact(&s->found.p[0], "init-failed", "1001"));
    }
}

static int64_t add_toolkit_part(struct scene *s, const char *part, struct wc_version v,
                                int64_t facade) {
    struct file f = {.role = WC_role_PART,
                     .path = print(s, "%s/libcudnn_%s.so.%d", toolkit, part, v.major),
                     .part = part,
                     .version = v,
                     .source = WC_version_source_DATA_SYMBOL,
                     .installation = "cuda-13.0",
                     .installation_path = "/usr/local/cuda-13.0",
                     .kind = WC_installation_kind_CUDA_TOOLKIT,
                     .asked_by = facade,
                     .how = WC_operation_DLOPEN};
    return add_file(s, &f);
}

static void all_parts_from_the_toolkit(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), w = other_minor(v, 1);
        int64_t host = add_host(s, "/opt/app/host");
        int64_t facade = add_facade(s, "/opt/alone", v, host);
        for (size_t i = 0; i < 4; i++)
            add_toolkit_part(s, nine[i], w, facade);
        assert_finds(s, "facade-and-parts-differ part-from-other-installation");
        assert_int_equal(finding(s, "part-from-other-installation")->severity, WC_severity_WARNING);
        assert_true(has_fact(finding(s, "part-from-other-installation"), "graph", toolkit));
        /* The same release in two installations works, by luck. */
        s = new_scene();
        facade = add_facade(s, "/opt/alone", v, add_host(s, "/opt/app/host"));
        add_toolkit_part(s, "graph", v, facade);
        assert_finds(s, "part-from-other-installation");
        assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_WARNINGS);
    }
}

static void the_facade_aborts_over_an_older_part(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), w = other_minor(v, -1);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    add_part(s, "/opt/cudnn", "graph", w, facade);
    struct wc_record r = begin(WC_KIND_failure);
    r.u.failure.operation = WC_operation_DLSYM;
    r.u.failure.function = "cudnnGetLibConfig";
    r.u.failure.caller_object = facade;
    apply(s, &r);
    assert_finds(s, "facade-and-parts-differ");
    assert_true(has_fact(&s->found.p[0], "not found in a part", "cudnnGetLibConfig"));
}

static void one_part_is_of_another_release(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), w = other_minor(v, round % 2 ? 1 : -1);
        int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
        add_part(s, "/opt/cudnn", "graph", v, facade);
        assert_finds(s, "");
        add_part(s, "/opt/cudnn", "ops", w, facade);
        assert_finds(s, "parts-differ");
        assert_true(has_fact(&s->found.p[0], "graph", text_of(s, v)));
        assert_true(has_fact(&s->found.p[0], "ops", text_of(s, w)));
    }
}

static void a_part_for_another_cuda_lacks_its_library(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(8), w = other_minor(v, -1);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    add_failure(s, facade, NULL, "libcudnn_ops_infer.so.8", not_found(s, "libcublas.so.11"));
    assert_finds(s, "dependency-missing");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_non_null(strstr(r->title, "libcudnn_ops_infer.so.8"));
    assert_non_null(strstr(r->title, "libcublas.so.11"));
    assert_int_equal(r->object, facade);
    /* Once another part of the same set comes in, the mixture shows as well. */
    add_part(s, "/opt/cudnn", "cnn_infer", w, facade);
    assert_finds(s, "dependency-missing facade-and-parts-differ");
    /* The twin: the library is there, the part comes in. */
    s = new_scene();
    facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    add_part(s, "/opt/cudnn", "ops_infer", v, facade);
    assert_finds(s, "");
}

static void no_part_at_all(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(8);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    add_failed_part(s, facade, "ops_infer", v, 4);
    assert_finds(s, "part-missing");
    assert_non_null(strstr(s->found.p[0].title, "ops_infer"));
    assert_true(has_fact(&s->found.p[0], "asked for", "libcudnn_ops_infer.so.8"));
    assert_true(has_fact(&s->found.p[0], "parts belong into", "/opt/cudnn"));
}

static void later_parts_of_eight_are_older(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(8), w = other_minor(v, -1);
        int64_t host = add_host(s, "/opt/app/host");
        int64_t facade = add_facade(s, "/opt/cudnn", v, host);
        add_part(s, "/opt/cudnn", "ops_infer", v, facade);
        assert_finds(s, "");
        add_part(s, "/opt/cudnn", "cnn_infer", w, facade);
        add_part(s, "/opt/cudnn", "adv_infer", w, facade);
        assert_finds(s, "parts-differ");
        add_calls(s, host, facade, (int64_t)wc_version_to_number(v), 1);
        assert_finds(s, "parts-differ driver-missing");
        assert_true(has_fact(&s->found.p[1], "init-failed", "returned 1 "));
    }
}

/* ---- frameworks ---- */

struct torch {
    int64_t host, python;
    struct wc_version built;
};

static struct torch add_torch(struct scene *s) {
    static const char *const functions[] = {"cudnnCreate", "cudnnGetVersion", "cudnnSetStream"};
    struct torch t = {.built = draw_release(9)};
    const char *pin = print(s, "==%s.51", text_of(s, t.built));
    t.python = add_host(s, "/venv/lib/python3.11/site-packages/torch/lib/libtorch_python.so");
    t.host = add_host(s, "/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so");
    for (int i = 0; i < 2; i++) {
        int64_t host = i ? t.python : t.host;
        struct want node = {host, WC_demand_kind_SYMBOL_VERSION, .spec = "==9.*",
                            .source = "symbol version"};
        struct want pinned = {host,
                              WC_demand_kind_REQUIRED,
                              .spec = pin,
                              .rule = rule_of("torch", "2.15.0"),
                              .framework = "torch",
                              .source = "METADATA of torch 2.15.0",
                              .source_path = "/venv/torch-2.15.0.dist-info/METADATA"};
        add_demand(s, &node);
        add_demand(s, &pinned);
        add_binding(s, host, NOBODY, WC_binding_how_LAZY, functions, i ? 1 : 3);
    }
    return t;
}

static int64_t add_wheel_facade(struct scene *s, struct wc_version v, int64_t by) {
    struct file f = {.role = WC_role_FACADE,
                     .path = print(s, "%s/libcudnn.so.%d", wheel, v.major),
                     .version = v,
                     .source = WC_version_source_ASKED_NAMES,
                     .installation = "nvidia-cudnn-cu13",
                     .installation_version = text_of(s, v),
                     .installation_path = wheel,
                     .kind = WC_installation_kind_WHEEL,
                     .asked_by = by,
                     .how = WC_operation_NEEDED};
    return add_file(s, &f);
}

static int64_t add_wheel_part(struct scene *s, const char *part, struct wc_version v,
                              enum wc_version_source source, int64_t facade) {
    struct file f = {.role = WC_role_PART,
                     .path = print(s, "%s/libcudnn_%s.so.%d", wheel, part, v.major),
                     .part = part,
                     .version = v,
                     .source = source,
                     .installation_path = wheel,
                     .kind = WC_installation_kind_WHEEL,
                     .asked_by = facade,
                     .how = WC_operation_DLOPEN};
    return add_file(s, &f);
}

static void torch_over_an_older_set_in_its_own_place(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct torch t = add_torch(s);
        struct wc_version v = other_minor(t.built, -1);
        int64_t facade = add_wheel_facade(s, v, t.python);
        assert_finds(s, "runtime-too-old");
        assert_true(s->found.p[0].predicted);
        add_wheel_part(s, "graph", v, WC_version_source_DATA_SYMBOL, facade);
        /* Its dist-info still tells of the release that was there before: a claim, no fact. */
        add_wheel_part(s, "cnn", t.built, WC_version_source_PACKAGE_METADATA, facade);
        assert_finds(s, "runtime-too-old");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_false(r->predicted);
        assert_string_equal(r->title, print(s, "torch got cuDNN %s, requires %s", text_of(s, v),
                                            text_of(s, t.built)));
        assert_int_equal(r->host, t.host);
        assert_int_equal(r->object, facade);
        assert_true(has_fact(r, "also wanted by", "libtorch_python.so"));
        assert_advised(s, r, "install", print(s, "requires ==%s.51", text_of(s, t.built)));
    }
}

static void torch_over_the_toolkit(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct torch t = add_torch(s);
        struct wc_version v = other_minor(t.built, -1);
        struct file f = {.role = WC_role_FACADE,
                         .path = print(s, "%s/libcudnn.so.9", toolkit),
                         .version = v,
                         .source = WC_version_source_ASKED_NAMES,
                         .installation = "cuda-13.0",
                         .installation_path = "/usr/local/cuda-13.0",
                         .kind = WC_installation_kind_CUDA_TOOLKIT,
                         .asked_by = t.python,
                         .how = WC_operation_NEEDED};
        int64_t facade = add_file(s, &f);
        add_toolkit_part(s, "graph", v, facade);
        assert_finds(s, "runtime-too-old");
        assert_true(has_fact(&s->found.p[0], "got", toolkit));
    }
}

/* The jit flavour: no error, the minor is not older. */
static void torch_over_a_newer_minor(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct torch t = add_torch(s);
        struct wc_version v = other_minor(t.built, 1);
        int64_t facade = add_wheel_facade(s, v, t.python);
        add_wheel_part(s, "graph", v, WC_version_source_DATA_SYMBOL, facade);
        add_wheel_part(s, "engines_runtime_compiled", WC_VERSION_NONE, WC_version_source_UNKNOWN,
                       facade);
        assert_finds(s, "");
    }
}

static void torch_whose_rpath_wins_over_a_variable(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct torch t = add_torch(s);
    add_variable(s, "LD_LIBRARY_PATH=/opt/old");
    int64_t facade = add_wheel_facade(s, t.built, t.python);
    add_wheel_part(s, "graph", t.built, WC_version_source_DATA_SYMBOL, facade);
    assert_finds(s, "");
}

struct jax {
    int64_t host;
    struct wc_version wanted, built;
};

static struct jax add_jax(struct scene *s) {
    struct jax j = {.wanted = draw_release(9)};
    j.built = other_minor(j.wanted, -1);
    struct file f = {.role = WC_role_HOST,
                     .path = "/venv/lib/python3.11/site-packages/jax_cuda12_plugin/_versions.so",
                     .installation = "jax-cuda12-plugin",
                     .asked_by = NOBODY};
    j.host = add_file(s, &f);
    struct want range = {j.host,
                         WC_demand_kind_REQUIRED,
                         .spec = print(s, "<10.0,>=9.%d", j.wanted.minor),
                         .rule = rule_of("jax", "0.10.2"),
                         .framework = "jax",
                         .source = "METADATA of jax-cuda12-plugin 0.10.2"};
    struct want own = {j.host,
                       WC_demand_kind_BUILT,
                       .built = text_of(s, j.built),
                       .rule = rule_of("jax", "0.10.2"),
                       .framework = "jax",
                       .source = "_versions.so"};
    add_demand(s, &own);
    add_demand(s, &range);
    return j;
}

/* Built with what is there; the wheel's requirement decides, and both stand in the finding. */
static void jax_over_an_older_minor(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static const char *const looked_up[] = {"cudnnGetVersion"};
        struct scene *s = new_scene();
        struct jax j = add_jax(s);
        struct wc_version v = j.built;
        int64_t facade = add_facade(s, "/opt/old", v, j.host);
        add_binding(s, j.host, facade, WC_binding_how_DLSYM, looked_up, 1);
        add_part(s, "/opt/old", "graph", v, facade);
        add_call(s, "cudnnGetVersion", j.host, facade, WC_NULL, (int64_t)wc_version_to_number(v));
        assert_finds(s, "runtime-too-old");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_true(has_fact(r, "wanted", print(s, ">=9.%d", j.wanted.minor)));
        assert_true(has_fact(r, "satisfied", text_of(s, j.built)));
        assert_true(has_fact(r, "check", "XLA"));
        assert_true(fact_index(r, "wanted") < fact_index(r, "satisfied"));
        assert_true(has_fact(r, "runtime version", text_of(s, v)));
        assert_advised(s, r, "install", print(s, ">=9.%d", j.wanted.minor));
        /* The twin: the lower bound itself, whatever its patch. */
        s = new_scene();
        j = add_jax(s);
        v = version_of(9, j.wanted.minor, draw(1, 3)); /* 9.10.0 has a finding */
        facade = add_facade(s, "/opt/new", v, j.host);
        add_part(s, "/opt/new", "graph", v, facade);
        assert_finds(s, "");
    }
}

static void onnxruntime_without_a_driver(void **state) {
    (void)state;
    struct scene *s = new_scene();
    const char *provider = "/venv/onnxruntime/capi/libonnxruntime_providers_cuda.so";
    add_failure(s, NOBODY, "/venv/onnxruntime/capi/onnxruntime_pybind11_state.so", provider,
                not_found(s, "libcuda.so.1"));
    assert_finds(s, "driver-missing");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_non_null(strstr(s->found.p[0].title, "libonnxruntime_providers_cuda.so"));
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_ERRORS);
    /* With the driver in place it came in. */
    s = new_scene();
    add_host(s, provider);
    assert_finds(s, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_another_release_beside_the_facade),
        cmocka_unit_test(a_facade_that_was_seen_to_compute),
        cmocka_unit_test(the_healthy_twin_of_a_mixed_set),
        cmocka_unit_test(all_parts_from_the_toolkit),
        cmocka_unit_test(the_facade_aborts_over_an_older_part),
        cmocka_unit_test(one_part_is_of_another_release),
        cmocka_unit_test(a_part_for_another_cuda_lacks_its_library),
        cmocka_unit_test(no_part_at_all),
        cmocka_unit_test(later_parts_of_eight_are_older),
        cmocka_unit_test(torch_over_an_older_set_in_its_own_place),
        cmocka_unit_test(torch_over_the_toolkit),
        cmocka_unit_test(torch_over_a_newer_minor),
        cmocka_unit_test(torch_whose_rpath_wins_over_a_variable),
        cmocka_unit_test(jax_over_an_older_minor),
        cmocka_unit_test(onnxruntime_without_a_driver),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
