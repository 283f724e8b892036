/* SPDX-License-Identifier: Apache-2.0 */
/* Frameworks without cuDNN: gpu-stack-not-reached, cpu-only-build; and the table of frameworks. */
#include "support_stack.h"

#include "core/knowledge/frameworks.h"

static int64_t add_framework(struct scene *s, const char *path, const char *package,
                             const char *version, const char *gpu_library) {
    struct wc_record r = begin(WC_KIND_object);
    r.u.object.object = ++s->objects;
    r.u.object.role = WC_role_OTHER;
    r.u.object.mapped = true;
    r.u.object.path = r.u.object.real_path = path;
    r.u.object.framework = wc_framework_of(path) ? wc_framework_of(path) : package;
    r.u.object.gpu_library = gpu_library;
    r.u.object.installation_kind = WC_installation_kind_WHEEL;
    r.u.object.installation = package;
    r.u.object.installation_version = version;
    apply(s, &r);
    return s->objects;
}

static void main_libraries(void **state) {
    (void)state;
    assert_string_equal(wc_framework_of("/a/torch/lib/libtorch_cpu.so"), "torch");
    assert_string_equal(wc_framework_of("libtensorflow_framework.so.2"), "tensorflow");
    assert_string_equal(
        wc_framework_of("capi/onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so"),
        "onnxruntime");
    assert_string_equal(wc_framework_of("xla_extension.so"), "jax");
    const char *const others[] = {"libtorch_cpu_extra.so",
                                  "libtorch_cuda.so",
                                  "xlibtorch_cpu.so",
                                  "/libtorch_cpu.so/x",
                                  "libc.so.6",
                                  "",
                                  NULL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(wc_framework_of(others[i]));
    assert_string_equal(wc_framework_named("torch")->gpu_libraries[0], "libtorch_cuda.so");
    assert_null(wc_framework_named("torch")->gpu_libraries[1]);
    assert_non_null(wc_framework_opening("/a/jax_cuda12_plugin/_versions.so"));
    assert_non_null(wc_framework_opening("cudnn/_compiled_module.abi3.so"));
    assert_non_null(wc_framework_opening("/a/cudnn/_compiled_module.abi3.so"));
    assert_null(wc_framework_opening("/a/mycudnn/_compiled_module.abi3.so"));
    assert_null(wc_framework_opening("_compiled_module.abi3.so"));
    assert_string_equal(wc_framework_named("tensorflow")->gpu_libraries[0], "");
    assert_non_null(wc_framework_named("jax")->gpu_libraries[2]);
    assert_null(wc_framework_named("nobody"));
    assert_null(wc_framework_named(NULL));
}

static void a_build_without_cuda(void **state) {
    (void)state;
    struct scene *s = new_scene();
    const char *version = print(s, "2.%d.%d", draw(1, 20), draw(1, 9));
    int64_t main = add_framework(s, "/v/torch/lib/libtorch_cpu.so", "torch",
                                 print(s, "%s+cpu", version), NULL);
    assert_finds(s, "cpu-only-build");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_int_equal(r->severity, WC_severity_WARNING);
    assert_int_equal(r->object, main);
    assert_non_null(strstr(r->title, print(s, "torch %s+cpu", version)));
    assert_true(has_fact(r, "is not there", "libtorch_cuda.so"));
    assert_advised(s, r, "install", "a build of torch with CUDA");
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_WARNINGS);
    /* Another framework has a cuDNN: this one may be meant for the CPU, surely where another
     * package requires it. */
    add_facade(s, "/opt/cudnn", draw_release(9), NOBODY);
    assert_finds(s, "cpu-only-build");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    s->stack.objects.p[0].r.required_by = "silero 1.0";
    assert_finds(s, "");
    s = new_scene();
    add_framework(s, "/v/other/lib/libother.so", "other", version, NULL);
    assert_finds(s, ""); /* what its builds for CUDA have is not known */
    s = new_scene();
    add_framework(s, "/v/onnxruntime/capi/onnxruntime_pybind11_state.so", "onnxruntime", "1.20.1",
                  NULL);
    add_framework(s, "/v/onnxruntime/capi/libonnxruntime.so.1.20.1", "onnxruntime", "1.20.1", NULL);
    assert_finds(s, "cpu-only-build"); /* once */
    assert_advised(s, &s->found.p[0], "install", "onnxruntime-gpu instead of onnxruntime");
}

/* libmxnet.so has cuDNN linked in: it imports nothing. */
static void a_package_that_names_its_cuda(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_framework(s, "/v/mxnet/libmxnet.so", "mxnet", "1.9.1", NULL);
    assert_finds(s, "cpu-only-build");
    s = new_scene();
    add_framework(s, "/v/mxnet/libmxnet.so", "mxnet-cu112", "1.9.1", NULL);
    assert_finds(s, "");
}

/* The wheel for the CPU puts its files over those of the other, whose library for GPUs stays. */
static void one_wheel_over_another(void **state) {
    (void)state;
    static const char main[] = "/v/onnxruntime/capi/onnxruntime_pybind11_state.so";
    static const char cuda[] = "/v/onnxruntime/capi/libonnxruntime_providers_cuda.so";
    struct scene *s = new_scene();
    add_framework(s, main, "onnxruntime-gpu", "1.20.1", cuda);
    assert_finds(s, "");
    s = new_scene();
    add_framework(s, main, "onnxruntime", "1.20.1", cuda);
    assert_finds(s, "cpu-only-build");
    assert_true(has_fact(&s->found.p[0], "of another package", cuda));
    add_facade(s, "/opt/cudnn", draw_release(9), NOBODY); /* another framework's */
    assert_finds(s, "cpu-only-build");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    s = new_scene(); /* it was asked for */
    int64_t framework = add_framework(s, main, "onnxruntime", "1.20.1", cuda);
    add_failure(s, framework, NULL, cuda, not_found(s, "libcudnn.so.9"));
    diagnose(s);
    assert_null(finding(s, "cpu-only-build"));
    s = new_scene(); /* by a program, which no framework is */
    add_framework(s, main, "onnxruntime", "1.20.1", cuda);
    add_failure(s, NOBODY, "/v/bin/python", cuda, not_found(s, "libcudnn.so.9"));
    diagnose(s);
    assert_non_null(finding(s, "cpu-only-build"));
}

/* What failed in its folder is of the build with CUDA that lay there before; elsewhere it is not.
 */
static void a_library_of_the_build_with_cuda_failed(void **state) {
    (void)state;
    static const char *const module[] = {"tensorflow", "apex"};
    for (int i = 0; i < 2; i++)
        for (int failed = 0; failed < 2; failed++) {
            struct scene *s = new_scene();
            const char *op = print(s, "/v/site-packages/%s/ops/_op.so", module[i]);
            add_framework(s, "/v/site-packages/tensorflow/libtensorflow_framework.so", "tensorflow",
                          "1.4.0", NULL);
            add_failure(s, NOBODY, "/v/bin/python", op,
                        print(s, "%s: undefined symbol: cudnnCreate", op));
            add_outcome(s, failed, NULL);
            diagnose(s);
            const struct wc_finding_record *build = finding(s, "cpu-only-build");
            const bool is_felt = failed && i == 0;
            assert_int_equal(build->severity, is_felt ? WC_severity_ERROR : WC_severity_WARNING);
            assert_int_equal(build == &s->found.p[0], is_felt);
            assert_int_equal(has_fact(build, "asked for", op), is_felt);
            if (is_felt)
                assert_string_equal(finding(s, "missing-symbols")->explained_by, "cpu-only-build");
            else
                assert_null(finding(s, "missing-symbols")->explained_by);
        }
}

/* A build for the processor asks for no driver; what others of the process ask for says nothing. */
static void what_asks_for_the_driver(void **state) {
    (void)state;
    static const char main[] = "/v/tensorflow/libtensorflow_framework.so.2";
    static const char *const wanted[] = {"libcuda.so.1", "libcudart.so.12"};
    struct scene *s = new_scene();
    add_framework(s, main, "tensorflow", "2.18.0", NULL);
    add_failure(s, NOBODY, "/v/triton/libtriton.so", wanted[0], not_found(s, wanted[0]));
    diagnose(s);
    assert_non_null(finding(s, "cpu-only-build"));
    for (size_t i = 0; i < 2; i++) {
        s = new_scene();
        int64_t framework = add_framework(s, main, "tensorflow", "2.18.0", NULL);
        add_failure(s, framework, NULL, wanted[i], not_found(s, wanted[i]));
        diagnose(s);
        assert_null(finding(s, "cpu-only-build"));
        s = new_scene(); /* it got that */
        framework = add_framework(s, main, "tensorflow", "2.18.0", NULL);
        struct wc_record r = begin(WC_KIND_object);
        r.u.object.object = ++s->objects;
        r.u.object.path = r.u.object.soname = wanted[i];
        r.u.object.asked_by_object = framework;
        apply(s, &r);
        diagnose(s);
        assert_null(finding(s, "cpu-only-build"));
    }
}

/* faster-whisper requires onnxruntime: without it pip calls the environment broken. */
static void what_another_package_requires_stays(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_framework(s, "/v/onnxruntime/capi/onnxruntime_pybind11_state.so", "onnxruntime", "1.20.1",
                  NULL);
    s->stack.objects.p[0].r.required_by = "faster_whisper 1.1.1";
    diagnose(s);
    const struct wc_finding_record *r = &s->found.p[0];
    assert_true(has_fact(r, "required by", "faster_whisper 1.1.1"));
}

static void a_build_for_cuda_that_asked_for_nothing(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_framework(s, "/v/torch/lib/libtorch_cpu.so", "torch", "2.5.1",
                  "/v/torch/lib/libtorch_cuda.so");
    assert_finds(s, "");
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_OK);
    /* What does not hint at CUDA is no obstacle. */
    add_failure(s, NOBODY, "/v/torch/lib/libtorch_cpu.so", "libnuma.so.1",
                not_found(s, "libnuma.so.1"));
    assert_finds(s, "");
}

static void what_stopped_it(void **state) {
    (void)state;
    static const char main[] = "/v/tensorflow/libtensorflow_framework.so.2";
    struct scene *s = new_scene();
    const char *missing = print(s, "libcublas.so.%d", draw(11, 13));
    int64_t object = add_framework(s, main, "tensorflow", "2.21.0", main);
    add_failure(s, NOBODY, main, missing, not_found(s, missing));
    assert_finds(s, "gpu-stack-not-reached");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_int_equal(r->severity, WC_severity_WARNING);
    assert_int_equal(r->object, object);
    assert_non_null(strstr(r->title, missing));
    assert_true(has_fact(r, "asked for", missing));
    /* It came in by another name of its directory, or cuDNN did after all. */
    struct file f = {
        .role = WC_role_CUDA_DEPENDENCY, .path = print(s, "/cuda/%s", missing), .asked_by = NOBODY};
    add_file(s, &f);
    assert_finds(s, "");
}

/* An error that tells it already is enough. */
static void what_an_error_tells(void **state) {
    (void)state;
    static const char main[] = "/v/onnxruntime/capi/onnxruntime_pybind11_state.so";
    static const char provider[] = "/v/onnxruntime/capi/libonnxruntime_providers_cuda.so";
    struct scene *s = new_scene();
    add_framework(s, main, "onnxruntime-gpu", "1.31.1", provider);
    add_failure(s, NOBODY, main, provider, not_found(s, "libcublasLt.so.12"));
    assert_finds(s, "dependency-missing");
    s = new_scene();
    add_framework(s, main, "onnxruntime-gpu", "1.31.1", provider);
    add_failure(s, NOBODY, main, provider,
                "libonnxruntime_providers_cuda.so: undefined symbol: cublasLtCreate");
    assert_finds(s, "gpu-stack-not-reached");
}

/* Which driver-missing tells, as a warning or a note where the process does well without. */
static void what_a_missing_driver_tells(void **state) {
    (void)state;
    static const char main[] = "/v/tensorflow/libtensorflow_framework.so.2";
    for (int status = 0; status < 2; status++) {
        struct scene *s = new_scene();
        add_framework(s, main, "tensorflow", "2.21.0", main);
        add_failure(s, NOBODY, main, "libcuda.so.1", not_found(s, "libcuda.so.1"));
        add_outcome(s, status, NULL);
        assert_finds(s, "driver-missing");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(main_libraries),
        cmocka_unit_test(a_build_without_cuda),
        cmocka_unit_test(what_another_package_requires_stays),
        cmocka_unit_test(a_build_for_cuda_that_asked_for_nothing),
        cmocka_unit_test(what_stopped_it),
        cmocka_unit_test(what_an_error_tells),
        cmocka_unit_test(a_package_that_names_its_cuda),
        cmocka_unit_test(one_wheel_over_another),
        cmocka_unit_test(a_library_of_the_build_with_cuda_failed),
        cmocka_unit_test(what_asks_for_the_driver),
        cmocka_unit_test(what_a_missing_driver_tells),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
