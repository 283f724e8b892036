/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA libraries beside cuDNN: cuda-major-differs, cuda-dependency-differs. */
#include <signal.h>

#include "support_stack.h"

static const char site[] = "/venv/lib/python3.12/site-packages";

/* Two CUDA majors, the first of which has wheels of this cuDNN major. */
struct majors {
    int cuda, other;
};

static struct majors draw_majors(void) {
    int cuda = draw(11, 13), other = draw(11, 12);
    return (struct majors){cuda, other < cuda ? other : other + 1};
}

static int64_t add_cudnn_wheel(struct scene *s, int cuda, struct wc_version v, int64_t by) {
    struct file f = {.role = WC_role_FACADE,
                     .path = print(s, "%s/nvidia/cudnn/lib/libcudnn.so.%d", site, v.major),
                     .version = v,
                     .source = WC_version_source_PACKAGE_METADATA,
                     .installation = print(s, "nvidia-cudnn-cu%d", cuda),
                     .installation_version = text_of(s, v),
                     .installation_path = print(s, "%s/nvidia/cudnn", site),
                     .kind = WC_installation_kind_WHEEL,
                     .asked_by = by,
                     .how = WC_operation_DLOPEN};
    return add_file(s, &f);
}

/* directory NULL: of a wheel in site-packages. */
static int64_t add_cuda_dependency(struct scene *s, const char *part, int cuda,
                                   const char *directory, enum wc_installation_kind kind,
                                   int64_t by) {
    struct file f = {
        .role = WC_role_CUDA_DEPENDENCY,
        .path = directory ? print(s, "%s/lib%s.so.%d", directory, part, cuda)
                          : print(s, "%s/nvidia/%s/lib/lib%s.so.%d", site, part, part, cuda),
        .part = part,
        .installation = print(s, "of-%s", part),
        .installation_path = directory ? directory : print(s, "%s/nvidia/%s", site, part),
        .kind = kind,
        .asked_by = by,
        .how = WC_operation_NEEDED};
    return add_file(s, &f);
}

static int64_t add_wheel(struct scene *s, const char *part, int cuda, int64_t by) {
    return add_cuda_dependency(s, part, cuda, NULL, WC_installation_kind_WHEEL, by);
}

static int64_t add_framework(struct scene *s, int cuda, const char *needed) {
    struct file f = {.role = WC_role_HOST,
                     .path = print(s, "%s/torch/lib/libtorch_cuda.so", site),
                     .installation = "torch",
                     .installation_version = print(s, "2.9.1+cu%d%d", cuda, draw(0, 9)),
                     .installation_path = print(s, "%s/torch", site),
                     .kind = WC_installation_kind_WHEEL,
                     .asked_by = NOBODY,
                     .needed = needed};
    return add_file(s, &f);
}

static void one_cuda_major_is_no_finding(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct scene *s = new_scene();
        int cuda = draw(11, 13);
        int64_t host = add_framework(s, cuda, print(s, "libcudart.so.%d", cuda));
        int64_t facade = add_cudnn_wheel(s, cuda, draw_release(9), host);
        assert_finds(s, "");
        add_wheel(s, "cudart", cuda, host);
        add_wheel(s, "cublas", cuda, host);
        add_wheel(s, "cublasLt", cuda, facade);
        add_wheel(s, "cufft", cuda - 1, host); /* counts by itself */
        add_wheel(s, "nccl", 2, host);
        assert_finds(s, "");
    }
}

static void cudnn_for_another_cuda_than_its_host(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct scene *s = new_scene();
        struct majors m = draw_majors();
        int64_t host = add_framework(s, m.other, NULL);
        add_wheel(s, "cudart", m.other, host);
        struct wc_version v = draw_release(9);
        int64_t facade = add_cudnn_wheel(s, m.cuda, v, host);
        assert_finds(s, "cuda-major-differs");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_int_equal(r->severity, WC_severity_ERROR);
        assert_int_equal(r->object, facade);
        assert_int_equal(r->host, host);
        assert_true(r->predicted);
        assert_non_null(strstr(r->title, print(s, "is made for CUDA %d", m.cuda)));
        assert_non_null(strstr(r->title, print(s, "is of CUDA %d", m.other)));
        assert_true(has_fact(r, "made for", print(s, "nvidia-cudnn-cu%d", m.cuda)));
        assert_advised(s, r, "install", "build for the CUDA of torch");
        struct want w = {host, WC_demand_kind_REQUIRED, .spec = ">=9.1",
                         .package = print(s, "nvidia-cudnn-cu%d", m.other), .source = "METADATA"};
        add_demand(s, &w);
        assert_finds(s, "cuda-major-differs");
        /* With what it is made for beside it, it works. */
        add_wheel(s, "cublasLt", m.cuda, facade);
        assert_finds(s, "cuda-major-differs");
        assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    }
}

/* C10, C11: only libraries of another CUDA are there, and cuDNN finds that out. */
static void its_own_cuda_dependencies_are_asked_for_in_vain(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct majors m = draw_majors();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    int64_t facade = add_facade(s, "/opt/cudnn", draw_release(9), host);
    add_cuda_dependency(s, "cudart", m.other, "/opt/cuda/lib64", WC_installation_kind_DIRECTORY,
                        host);
    assert_finds(s, ""); /* nothing says what this cuDNN is for */
    const char *name = print(s, "libcublasLt.so.%d", m.cuda);
    add_failure(s, facade, NULL, name, not_found(s, name));
    assert_finds(s, "cuda-major-differs");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_false(r->predicted);
    assert_true(has_fact(r, "asked for", name));
    assert_true(has_fact(r, "made for", name));
    assert_true(has_fact(r, "cudart", "/opt/cuda/lib64"));
    /* A dependency that is not found, too, is then its consequence. */
    const char *dependency = print(s, "libcublas.so.%d", m.cuda);
    add_failure(s, facade, NULL, print(s, "libcudnn_ops.so.9"), not_found(s, dependency));
    assert_finds(s, "cuda-major-differs dependency-missing");
    assert_string_equal(s->found.p[1].explained_by, "cuda-major-differs");
}

static void other_sources_of_the_major(void **state) {
    (void)state;
    struct majors m = draw_majors();
    for (int way = 0; way < 4; way++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct file f = {.role = WC_role_FACADE,
                         .path = "/usr/lib/x86_64-linux-gnu/libcudnn.so.8",
                         .version = draw_release(8),
                         .source = WC_version_source_FILE_NAME,
                         .asked_by = host,
                         .how = WC_operation_NEEDED};
        if (way == 0) { /* Debian, cuDNN 8 and 9 */
            f.installation = "libcudnn8";
            f.installation_version = print(s, "8.9.3.28-1+cuda%d.1", m.cuda);
            f.kind = WC_installation_kind_DEBIAN;
        } else if (way == 1) {
            f.installation = print(s, "libcudnn9-cuda-%d", m.cuda);
            f.kind = WC_installation_kind_DEBIAN;
        } else if (way == 2) {
            f.installation = print(s, "cuda-%d.2", m.cuda);
            f.kind = WC_installation_kind_CUDA_TOOLKIT;
        } else {
            f.needed = print(s, "libcublas.so.%d", m.cuda);
        }
        add_file(s, &f);
        assert_finds(s, "");
        add_cuda_dependency(s, "cudart", m.cuda, "/opt/a", WC_installation_kind_DIRECTORY, host);
        assert_finds(s, "");
        add_cuda_dependency(s, "cudart", m.other, "/opt/b", WC_installation_kind_DIRECTORY, host);
        assert_finds(s, ""); /* somebody else's */
        s->stack.objects.p[2].r.mapped = false;
        assert_finds(s, "cuda-major-differs");
        const char *source = way == 3 ? "DT_NEEDED" : "package";
        const struct wc_finding_record *r = &s->found.p[0];
        assert_string_equal(r->facts.p[fact_index(r, "made for")].source, source);
    }
}

/* A bundle without all parts (onnxruntime in an image that was slimmed). */
static void a_part_of_another_release_does_not_say_the_cuda_of_the_facade(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct majors m = draw_majors();
    struct wc_version v = draw_release(9);
    int64_t host = add_framework(s, m.other, print(s, "libcudart.so.%d", m.other));
    int64_t facade = add_facade(s, "/opt/app/lib", v, host);
    struct file ops = {.role = WC_role_PART,
                       .path = print(s, "/usr/local/cuda-%d.0/lib64/libcudnn_ops.so.9", m.cuda),
                       .part = "ops",
                       .version = other_minor(v, 1),
                       .source = WC_version_source_DATA_SYMBOL,
                       .installation = print(s, "cuda-%d.0", m.cuda),
                       .installation_path = print(s, "/usr/local/cuda-%d.0", m.cuda),
                       .kind = WC_installation_kind_CUDA_TOOLKIT,
                       .asked_by = facade,
                       .how = WC_operation_DLOPEN};
    add_wheel(s, "cudart", m.other, host);
    add_file(s, &ops);
    assert_finds(s, "facade-and-parts-differ part-from-other-installation");
}

static void a_name_that_cudnn_opened_is_a_source_too(void **state) {
    (void)state;
    struct majors m = draw_majors();
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct file lt = {.role = WC_role_CUDA_DEPENDENCY,
                      .part = "cublasLt",
                      .path = print(s, "/opt/a/libcublasLt.so.%d", m.cuda),
                      .asked_by = add_facade(s, "/opt/cudnn", draw_release(9), host),
                      .how = WC_operation_DLOPEN,
                      .unmapped = true};
    add_file(s, &lt);
    add_cuda_dependency(s, "cudart", m.other, "/opt/b", WC_installation_kind_DIRECTORY, host);
    assert_finds(s, "cuda-major-differs");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_string_equal(r->facts.p[fact_index(r, "made for")].source, "names it asked for");
}

/* Two hosts, each with its own: what one of them brought says nothing about the other's cuDNN. */
static void cuda_dependencies_of_another_host_say_nothing(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct majors m = draw_majors();
    int64_t host = add_framework(s, m.cuda, NULL), other = add_host(s, "/opt/app/libother.so");
    add_cuda_dependency(s, "cudart", m.other, "/opt/b", WC_installation_kind_DIRECTORY, other);
    add_cudnn_wheel(s, m.cuda, draw_release(9), host);
    assert_finds(s, "");
}

/* ---- cuda-dependency-differs ---- */

static void cudnn_finds_no_cublas(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    int64_t facade = add_cudnn_wheel(s, 12, draw_release(9), host);
    add_failure(s, host, NULL, "libcublasLt.so.12", not_found(s, "libcublasLt.so.12"));
    assert_finds(s, ""); /* somebody else asked */
    add_failure(s, facade, NULL, "libcublasLt.so.12", not_found(s, "libcublasLt.so.12"));
    assert_finds(s, "cuda-dependency-differs");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_int_equal(r->severity, WC_severity_ERROR);
    assert_true(has_fact(r, "asked for", "libcublasLt.so.12"));
    assert_advised(s, r, "install", "contains libcublasLt.so.12, and add its directory");
    add_wheel(s, "cublasLt", 12, host);
    assert_finds(s, "");
}

/* The compiler is wanted late, and not by everybody. */
static void a_compiler_that_is_missing_warns_until_a_call_fails(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    int64_t facade = add_cudnn_wheel(s, 12, draw_release(9), host);
    add_failure(s, facade, NULL, "libnvrtc.so.12", not_found(s, "libnvrtc.so.12"));
    add_failure(s, facade, NULL, "libnvrtc.so", not_found(s, "libnvrtc.so"));
    assert_finds(s, "cuda-dependency-differs");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    add_call(s, "cudnnCreate", host, facade, 0, WC_NULL);
    add_call(s, "cudnnBackendFinalize", host, facade, 5000, WC_NULL);
    assert_finds(s, "cuda-dependency-differs call-failed");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_string_equal(s->found.p[1].explained_by, "cuda-dependency-differs");
}

static void add_end(struct scene *s, const char *signal) {
    struct wc_record r = begin(WC_KIND_outcome);
    r.u.outcome.ending = signal ? WC_ending_SIGNALED : WC_ending_EXITED;
    r.u.outcome.signal_name = signal;
    apply(s, &r);
}

/* The compiler opens its builtins by name, at its first compilation. */
static void what_a_library_of_cuda_asks_for_in_vain_is_missing(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_facade(s, "/opt/cudnn", draw_release(9), host);
    int64_t nvrtc = add_cuda_dependency(s, "nvrtc", 12, "/opt/cuda/lib64",
                                        WC_installation_kind_DIRECTORY, host);
    add_failure(s, nvrtc, NULL, "libnvrtc-builtins.so.12.4",
                not_found(s, "libnvrtc-builtins.so.12.4"));
    assert_finds(s, "cuda-dependency-differs");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    add_outcome(s, 1, NULL);
    assert_finds(s, "cuda-dependency-differs");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_non_null(strstr(s->found.p[0].title, "libnvrtc.so.12 asked for libnvrtc-builtins"));
    add_cuda_dependency(s, "nvrtc-builtins", 12, "/opt/cuda/lib64", WC_installation_kind_DIRECTORY,
                        nvrtc);
    assert_finds(s, "");
}

/* Others try what may be there: it was a need where the process ended badly over it. */
static void what_a_host_asks_for_in_vain_is_missing_where_it_gave_up(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/cudnn", v, host);
    add_failure(s, host, NULL, "libcudart.so.12", not_found(s, "libcudart.so.12"));
    assert_finds(s, "");
    add_outcome(s, 0, NULL);
    assert_finds(s, "");
    add_outcome(s, 0, "SIGABRT");
    assert_finds(s, "cuda-dependency-differs");
    assert_non_null(strstr(s->found.p[0].title, "libhost.so asked for libcudart.so.12"));
    add_part(s, "/opt/cudnn", "graph", v, facade); /* it went on behind that */
    assert_finds(s, "");
    /* TensorFlow opens all that it needs, and prints what is missing. */
    static const char *const words[] = {"Could not load dynamic library 'libcudart.so.12'",
                                        "Could not load dynamic library 'libcudart.so.12.1'"};
    for (int i = 0; i < 3; i++) {
        add_outcome(s, i != 1, NULL);
        s->stack.outcome.printed = (struct wc_strings){&words[i == 2], 1};
        assert_finds(s, i == 0 ? "cuda-dependency-differs" : "");
    }
}

/* It ended well without any CUDA: a warning where a GPU may be. A name without a number is a probe.
 */
static void a_host_that_ends_well_lacks_cuda_where_a_gpu_may_be(void **state) {
    (void)state;
    static const struct {
        const char *asks, *visible;
        int64_t gpus;
        bool warns;
    } rows[] = {{"libcudart.so.12", "CUDA_VISIBLE_DEVICES=0", 1, true},
                {"libcudart.so.12", "CUDA_VISIBLE_DEVICES=0", 0, false},
                {"libcudart.so.12", "CUDA_VISIBLE_DEVICES=-1", 1, false},
                {"libcudart.so", "CUDA_VISIBLE_DEVICES=0", 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        add_variable(s, rows[i].visible);
        add_machine(s, NULL, rows[i].gpus);
        add_failure(s, NOBODY, "/opt/app/solver", rows[i].asks, not_found(s, rows[i].asks));
        add_outcome(s, 0, NULL);
        assert_finds(s, rows[i].warns ? "cuda-dependency-differs" : "");
    }
}

/* For want of what a preloaded hook of the last CUDA needs, say, whatever else was found. */
static void what_is_needed_for_the_start_is_missing_beside_another_cuda(void **state) {
    (void)state;
    for (int ran = 0; ran < 2; ran++) {
        struct scene *s = new_scene();
        struct majors m = draw_majors();
        int64_t host = add_host(s, "/opt/app/host");
        int64_t facade = add_facade(s, "/opt/cudnn", draw_release(9), host);
        struct wc_record r = begin(WC_KIND_failure);
        add_cuda_dependency(s, "cudart", m.cuda, "/opt/cuda/lib64", WC_installation_kind_DIRECTORY,
                            host);
        add_binding(s, host, facade, WC_binding_how_SLOT, NULL, 0); /* so files say */
        if (ran)
            add_call(s, "cudnnCreate", host, facade, 0, WC_NULL);
        r.u.failure.request = ++s->requests;
        r.u.failure.operation = WC_operation_NEEDED;
        r.u.failure.name = print(s, "libcudart.so.%d", m.other);
        r.u.failure.caller = "/opt/hook.so";
        r.u.failure.caller_object = WC_NULL;
        r.u.failure.inferred = true;
        apply(s, &r);
        assert_finds(s, "");
        add_outcome(s, 127, NULL);
        assert_finds(s, ran ? "" : "cuda-dependency-differs");
        if (!ran)
            assert_non_null(strstr(s->found.p[0].title, "hook.so asked for libcudart.so"));
    }
}

/* Behind a script nobody tells how it ended itself. */
static void a_command_that_failed_is_how_its_processes_ended(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_facade(s, "/opt/cudnn", draw_release(9), host);
    add_failure(s, host, NULL, "libcudart.so.12", not_found(s, "libcudart.so.12"));
    assert_finds(s, "");
    s->stack.command_ended = s->stack.command_failed = true;
    assert_finds(s, "cuda-dependency-differs");
    add_outcome(s, 0, NULL); /* its own end counts more */
    assert_finds(s, "");
}

/* Without a word to anybody but its user. A framework's main library has a finding of its own. */
static void a_host_that_goes_without_cuda_is_told_when_it_has_ended(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/detect");
    add_failure(s, host, NULL, "libcudart.so.12", not_found(s, "libcudart.so.12"));
    assert_finds(s, "");
    add_outcome(s, 0, NULL);
    assert_finds(s, "cuda-dependency-differs");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    add_facade(s, "/opt/cudnn", draw_release(9), host);
    assert_finds(s, "");
}

/* Who carries builds for both looks for CUDA first; in an environment a package has decided. */
static void who_chooses_the_build_for_the_processor_found_no_cuda(void **state) {
    (void)state;
    for (int of_package = 0; of_package < 2; of_package++) {
        struct scene *s = new_scene();
        struct wc_record r = begin(WC_KIND_object);
        add_failure(s, NOBODY, "/usr/bin/java", "libcudart.so", not_found(s, "libcudart.so"));
        r.u.object.object = ++s->objects;
        r.u.object.path = "/home/a/.djl.ai/pytorch/2.1.1-cpu/libtorch_cpu.so";
        r.u.object.framework = "torch";
        r.u.object.mapped = true;
        r.u.object.installation_version = of_package ? "2.1.1+cpu" : NULL;
        r.u.object.request = ++s->requests;
        apply(s, &r);
        assert_finds(s, "cpu-only-build");
        add_outcome(s, 0, NULL);
        assert_finds(s, of_package ? "cpu-only-build" : "cuda-dependency-differs cpu-only-build");
        assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
        add_outcome(s, 1, NULL); /* for what, nobody knows */
        assert_finds(s, "cpu-only-build");
    }
}

/* All went well with one CUDA until somebody asked for another, as the last thing of all. */
static void another_cuda_is_asked_for_last(void **state) {
    (void)state;
    for (int later = 0; later < 2; later++) {
        struct scene *s = new_scene();
        struct wc_record r = begin(WC_KIND_request);
        int64_t host = add_host(s, "/opt/app/libhost.so");
        add_cuda_dependency(s, "cudart", 12, "/opt/cuda/lib64", WC_installation_kind_DIRECTORY,
                            host);
        add_facade(s, "/opt/cudnn", draw_release(9), host);
        r.u.request.request = s->requests + 1;
        r.u.request.name = "libcudart.so.13";
        apply(s, &r);
        add_failure(s, NOBODY, "/opt/app/frontend.so", "libcudart.so.13",
                    not_found(s, "libcudart.so.13"));
        if (later) { /* it tries one after another: this one is there */
            r.u.request.request = s->requests + 1;
            r.u.request.name = "libcudart.so.12";
            apply(s, &r);
        }
        assert_finds(s, "");
        add_outcome(s, 1, NULL);
        assert_finds(s, later ? "" : "cuda-dependency-differs");
        if (!later) /* it may have ended for something else */
            assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
        add_outcome(s, 0, NULL);
        assert_finds(s, "");
    }
}

/* C18: libnvrtc is there under its numbered name, cuDNN 8 dies of the first name that it tried. */
static void a_name_of_the_compiler_that_is_missing_kills(void **state) {
    (void)state;
    const char *const ends[] = {NULL, "SIGINT", "SIGABRT", "128 + SIGABRT of a shell"};
    for (int i = 0; i < 4; i++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        add_cuda_dependency(s, "nvrtc", 11, "/opt/cuda/lib64", WC_installation_kind_DIRECTORY,
                            host);
        int64_t facade = add_facade(s, "/opt/cudnn", draw_release(8), host);
        add_failure(s, facade, NULL, "libnvrtc.so", not_found(s, "libnvrtc.so"));
        if (i < 3)
            add_end(s, ends[i]);
        else
            s->stack.command_failed = true, s->stack.command_signal = SIGABRT;
        assert_finds(s, i < 2 ? "" : "cuda-dependency-differs");
        if (i < 2)
            continue;
        assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
        assert_advised(s, &s->found.p[0], "install", "contains libnvrtc.so,");
    }
}

/* The program never fetched the loader's words: the failure is told behind the call that it made
 * fail. */
static void a_name_of_the_compiler_that_is_told_late_is_of_its_call(void **state) {
    (void)state;
    for (int status = 0; status <= 4; status += 4) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        add_cuda_dependency(s, "nvrtc", 11, "/opt/cuda/lib64", WC_installation_kind_DIRECTORY,
                            host);
        int64_t facade = add_facade(s, "/opt/cudnn", draw_release(8), host);
        struct wc_record r = begin(WC_KIND_request);
        add_call(s, "cudnnSetStream", host, facade, 3, WC_NULL);
        r.u.request.request = s->requests + 1;
        apply(s, &r);
        add_call(s, "cudnnBackendFinalize", host, facade, status, WC_NULL);
        add_failure(s, facade, NULL, "libnvrtc.so", NULL);
        assert_finds(s, status ? "cuda-dependency-differs call-failed call-failed" : "call-failed");
    }
}

/* cuDNN and its host are of an environment, cuBLAS is not. Returns its number. */
static int64_t add_elsewhere(struct scene *s, const char *directory, enum wc_installation_kind kind,
                             bool named, bool cudart) {
    if (named)
        add_variable(s, print(s, "LD_LIBRARY_PATH=/opt/x:%s", directory));
    int64_t host = add_framework(s, 12, NULL);
    add_cudnn_wheel(s, 12, draw_release(9), host);
    if (cudart)
        add_wheel(s, "cudart", 12, host);
    return add_cuda_dependency(s, "cublas", 12, directory, kind, host);
}

/* It is there under its numbered name alone, or by the plain one of another CUDA: a call fails. */
static void a_plain_name_of_the_compiler(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool elsewhere = i & 1, failed = i & 2;
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        add_cuda_dependency(s, "nvrtc", 11, "/opt/cuda/lib64", WC_installation_kind_DIRECTORY,
                            host);
        int64_t facade = add_cudnn_wheel(s, 11, draw_release(8), host);
        if (elsewhere) {
            struct sought f = {.name = "libnvrtc.so",
                               .by = facade,
                               .rule = WC_search_rule_LIBRARY_PATH,
                               .takes = "/opt/old/lib64/libnvrtc.so.8"};
            f.object = add_cuda_dependency(s, "nvrtc", 8, "/opt/old/lib64",
                                           WC_installation_kind_DIRECTORY, facade);
            add_search(s, &f);
        } else {
            add_failure(s, facade, NULL, "libnvrtc.so", not_found(s, "libnvrtc.so"));
        }
        add_call(s, "cudnnBackendFinalize", host, facade, failed ? 4 : 0, WC_NULL);
        const char *found =
            elsewhere ? "cuda-major-differs call-failed" : "cuda-dependency-differs call-failed";
        assert_finds(s, failed ? found : "");
        if (failed)
            assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    }
}

/* What another package brought of cuBLAS in a copy of its own answers to cuDNN, too. */
static void a_bundled_half_of_cublas_counts_where_cudnn_aborts(void **state) {
    (void)state;
    const char *const ends[] = {NULL, "SIGSEGV", "SIGABRT"};
    for (int i = 0; i < 3; i++) {
        struct scene *s = new_scene();
        int64_t host = add_framework(s, 12, NULL);
        add_cuda_dependency(s, "cublasLt", 12, print(s, "%s/imagekit.libs", site),
                            WC_installation_kind_BUNDLED, NOBODY);
        add_wheel(s, "cudart", 12, host);
        add_cudnn_wheel(s, 12, draw_release(9), host);
        add_end(s, ends[i]);
        assert_finds(s, i == 2 ? "cuda-dependency-differs" : "");
        if (i == 2)
            assert_non_null(strstr(s->found.p[0].title, "imagekit.libs"));
    }
}

static void add_cublas_behind(struct scene *s, int64_t cublas, const char *path) {
    struct sought f = {.name = "libcublas.so.12",
                       .by = 1,
                       .object = cublas,
                       .rule = WC_search_rule_LIBRARY_PATH,
                       .takes = "/opt/cuda/libcublas.so.12"};
    struct beside b = {.path = path, .rule = WC_search_rule_RUNPATH};
    add_beside(s, add_search(s, &f), &b);
}

/* C117: cuDNN is the right one, cuBLAS comes from a toolkit by LD_LIBRARY_PATH, before the
 * environment's own. */
static void cublas_from_elsewhere(void **state) {
    (void)state;
    const enum wc_installation_kind kinds[] = {WC_installation_kind_CUDA_TOOLKIT,
                                               WC_installation_kind_DIRECTORY};
    for (int i = 0; i < 4; i++) {
        struct scene *s = new_scene();
        const char *directory = print(s, "/opt/cuda-12.%d/lib64", draw(0, 9));
        bool named = i >= 2;
        int64_t cublas = add_elsewhere(s, directory, kinds[i % 2], named, i % 2);
        add_cublas_behind(s, cublas, print(s, "%s/nvidia/cublas/lib/libcublas.so.12", site));
        /* Where nothing but its place tells, it must have been named. */
        if (!named && kinds[i % 2] == WC_installation_kind_DIRECTORY) {
            assert_finds(s, "");
            continue;
        }
        assert_finds(s, "cuda-dependency-differs");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_int_equal(r->severity, WC_severity_WARNING);
        assert_int_equal(r->object, 2);
        assert_non_null(strstr(r->title, print(s, "libcublas.so.12, used by libcudnn.so.9")));
        assert_non_null(strstr(r->title, directory));
        assert_advised(s, r, named ? "set-variable" : "install", named ? "LD_LIBRARY_PATH" : "one");
        assert_false(has_fact(r, "mind", ""));
    }
}

/* Somebody has cuDNN in an environment and uses the computer's toolkit. */
static void a_toolkit_that_is_meant_is_a_note(void **state) {
    (void)state;
    static const char toolkit[] = "/usr/local/cuda-12.4/lib64";
    static const char *const ends[] = {NULL, "SIGINT", "SIGSEGV"};
    const enum wc_installation_kind kind = WC_installation_kind_CUDA_TOOLKIT;
    for (int i = 0; i < 3; i++) {
        struct scene *s = new_scene();
        add_elsewhere(s, toolkit, kind, true, true);
        add_end(s, ends[i]);
        assert_finds(s, "cuda-dependency-differs");
        assert_int_equal(s->found.p[0].severity, i < 2 ? WC_severity_NOTE : WC_severity_WARNING);
        assert_int_equal(has_fact(&s->found.p[0], "mind", "no call failed"), i < 2);
    }
    /* What it stands before is no part of the environment. */
    struct scene *s = new_scene();
    int64_t cublas = add_elsewhere(s, toolkit, kind, true, true);
    add_cublas_behind(s, cublas, "/venv/lib/python3.12x/libcublas.so.12");
    assert_finds(s, "cuda-dependency-differs");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    /* Its other half is from the same toolkit, or it is not. */
    add_cuda_dependency(s, "cublasLt", 12, toolkit, kind, 1);
    assert_finds(s, "cuda-dependency-differs");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    s = new_scene();
    add_elsewhere(s, toolkit, kind, true, true);
    add_wheel(s, "cublasLt", 12, 1);
    assert_finds(s, "cuda-dependency-differs");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    /* A failed call. */
    s = new_scene();
    add_elsewhere(s, toolkit, kind, true, true);
    add_call(s, "cudnnBackendExecute", 1, 2, 5000, WC_NULL);
    assert_finds(s, "call-failed cuda-dependency-differs");
    assert_int_equal(s->found.p[1].severity, WC_severity_WARNING);
}

/* A system's cuDNN and a toolkit; a wheel of cuDNN for a program that is none; a framework's own
 * copies under names of their own; parts of a toolkit in directories of their own. */
static void installations_that_go_together(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_cudnn_wheel(s, 12, draw_release(9), host);
    add_cuda_dependency(s, "cudart", 12, "/usr/local/cuda-12.4", WC_installation_kind_CUDA_TOOLKIT,
                        host);
    add_cuda_dependency(s, "cublas", 12, "/usr/local/cuda-12.4", WC_installation_kind_CUDA_TOOLKIT,
                        host);
    add_cuda_dependency(s, "nvrtc", 12, "/nix/store/nvrtc", WC_installation_kind_DIRECTORY, host);
    assert_finds(s, "");
    s = new_scene();
    host = add_framework(s, 12, NULL);
    add_cudnn_wheel(s, 12, draw_release(9), host);
    add_cuda_dependency(s, "cudart", 12, "/venv/lib/python3.12/site-packages/faiss.libs",
                        WC_installation_kind_BUNDLED, host);
    add_wheel(s, "cublas", 12, host);
    assert_finds(s, "");
    add_cuda_dependency(s, "cublasLt", 13, "/usr/local/cuda-13.0",
                        WC_installation_kind_CUDA_TOOLKIT,
                        host); /* of another major: another host's */
    assert_finds(s, "");
    /* What lies in the environment without being of a package of its own. */
    s = new_scene();
    add_variable(s, print(s, "LD_LIBRARY_PATH=%s/nvidia/cublas/lib", site));
    host = add_framework(s, 12, NULL);
    add_cudnn_wheel(s, 12, draw_release(9), host);
    add_cuda_dependency(s, "cublas", 12, print(s, "%s/nvidia/cublas/lib", site),
                        WC_installation_kind_DIRECTORY, host);
    assert_finds(s, "");
    /* Two toolkits do not. */
    s = new_scene();
    host = add_host(s, "/opt/app/libhost.so");
    add_facade(s, "/opt/cudnn", draw_release(9), host);
    add_cuda_dependency(s, "cublas", 12, "/usr/local/cuda-12.4", WC_installation_kind_CUDA_TOOLKIT,
                        host);
    add_cuda_dependency(s, "cublasLt", 12, "/usr/local/cuda-12.1",
                        WC_installation_kind_CUDA_TOOLKIT, host);
    assert_finds(s, "cuda-dependency-differs");
}

/* ---- a CUDA library that is there twice ---- */

static void add_copies(struct scene *s, const char *const path[2], const char *const soname[2],
                       bool one_file, bool one_build) {
    for (int i = 0; i < 2; i++) {
        struct wc_record r = begin(WC_KIND_object);
        struct wc_object_record *o = &r.u.object;
        int64_t by = add_host(s, i ? "/opt/app/two.so" : "/opt/app/one.so");
        o->object = ++s->objects;
        o->role = WC_role_CUDA_DEPENDENCY;
        o->part = strstr(soname[i], "nvrtc") ? "nvrtc" : "cudart";
        o->mapped = true;
        o->path = path[i];
        o->soname = soname[i];
        o->device = 1;
        o->inode = one_file ? 7 : 7 + i;
        o->build_id = i && !one_build ? "22" : "11";
        o->asked_by_object = by;
        o->asked_by = i ? "/opt/app/two.so" : "/opt/app/one.so";
        o->asked_name = i ? path[i] : soname[i];
        o->asked_how = WC_operation_DLOPEN;
        apply(s, &r);
    }
}

static void two_files_of_one_cuda_library_are_told(void **state) {
    static const struct {
        const char *path[2], *soname[2];
        bool one_file, one_build;
        const char *signal;
        int severity; /* NONE: no finding */
    } rows[] = {
        {{"/a/libcudart.so.12", "/b/libcudart.so.12"},
         {"libcudart.so.12", "libcudart.so.12"},
         .severity = WC_severity_NOTE},
        {{"/a/libcudart.so.12", "/b/libcudart.so.12"},
         {"libcudart.so.12", "libcudart.so.12"},
         .signal = "SIGSEGV",
         .severity = WC_severity_WARNING},
        {{"/a/libcudart.so.12", "/b/libcudart.so.12"},
         {"libcudart.so.12", "libcudart.so.12"},
         .signal = "SIGTERM",
         .severity = WC_severity_NOTE},
        {{"/a/libcudart.so.12", "/b/libcudart.so.12"},
         {"libcudart.so.12", "libcudart.so.12"},
         .one_build = true,
         .signal = "SIGABRT",
         .severity = WC_severity_WARNING},
        {{"/a/libcudart.so.12", "/t/libcudart.41118559.so.12"},
         {"libcudart.so.12", "libcudart.41118559.so.12"},
         .severity = WC_severity_NOTE},
        {{"/a/libnvrtc.so.12", "/t/libnvrtc-672ee683.so.12"},
         {"libnvrtc.so.12", "libnvrtc-672ee683.so.12"},
         .signal = "SIGBUS",
         .severity = WC_severity_WARNING},
        {{"/a/libnvrtc.so.12", "/b/libnvrtc.so"},
         {"libnvrtc.so.12", "libnvrtc.so"},
         .signal = "SIGABRT",
         .severity = WC_severity_WARNING},
        {{"/a/libcudart.so.12", "/b/libcudart.so.13"},
         {"libcudart.so.12", "libcudart.so.13"},
         .severity = WC_severity_NONE},
        {{"/a/libcudart.so.12", "/b/libnvrtc.so.12"},
         {"libcudart.so.12", "libnvrtc.so.12"},
         .severity = WC_severity_NONE},
        {{"/a/libcudart.so.12", "/b/libcudart.so.12"},
         {"libcudart.so.12", "libcudart.so.12"},
         .one_file = true,
         .signal = "SIGSEGV",
         .severity = WC_severity_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        add_copies(s, rows[i].path, rows[i].soname, rows[i].one_file, rows[i].one_build);
        add_end(s, rows[i].signal);
        print_message("# %s, %s\n", rows[i].path[0], rows[i].path[1]);
        assert_finds(s, rows[i].severity == WC_severity_NONE ? "" : "two-cuda-copies");
        if (rows[i].severity == WC_severity_NONE)
            continue;
        const struct wc_finding_record *r = &s->found.p[0];
        assert_int_equal(r->severity, rows[i].severity);
        assert_true(has_fact(r, "copy", rows[i].path[0]) && has_fact(r, "copy", rows[i].path[1]));
        assert_true(has_fact(r, "asked by", "/opt/app/one.so") &&
                    has_fact(r, "asked by", "/opt/app/two.so"));
        assert_advised(s, r, "upgrade-host", "in a separate process");
    }
}

/* Of two releases one may be too old for one of the hosts (FabricPC#45). */
static void two_releases_weigh_more_where_the_process_failed(void **state) {
    static const char *const path[][2] = {{"/a/libcudart.so.12.0.1", "/b/libcudart.so.12.9.0"},
                                          {"/a/libcudart.so.12.9.0", "/b/libcudart.so.12.9.0"}};
    static const char *const soname[2] = {"libcudart.so.12", "libcudart.so.12"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct scene *s = new_scene();
        add_copies(s, path[i % 2], soname, false, false);
        add_outcome(s, i / 2, NULL);
        assert_finds(s, "two-cuda-copies");
        assert_int_equal(s->found.p[0].severity, i == 2 ? WC_severity_WARNING : WC_severity_NOTE);
    }
}

static void what_explains_the_crash_leaves_the_copies_a_note(void **state) {
    static const char *const path[2] = {"/a/libcudart.so.12", "/b/libcudart.so.12"};
    static const char *const soname[2] = {"libcudart.so.12", "libcudart.so.12"};
    (void)state;
    struct scene *s = new_scene();
    add_copies(s, path, soname, false, false);
    add_failure(s, add_host(s, "/opt/app/libhost.so"), NULL, "libcudnn.so.9",
                not_found(s, "libcudnn.so.9"));
    add_end(s, "SIGABRT");
    assert_finds(s, "library-not-found two-cuda-copies");
    assert_int_equal(s->found.p[1].severity, WC_severity_NOTE);
}

static void two_facades_of_one_release_weigh_more_after_a_crash(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool differ = i & 1, crash = i & 2;
        struct scene *s = new_scene();
        struct wc_version v = draw_release(7);
        add_facade(s, "/opt/a", v, add_host(s, "/opt/app/one.so"));
        add_facade(s, "/opt/b", differ ? other_minor(v, 1) : v, add_host(s, "/opt/app/two.so"));
        add_end(s, crash ? "SIGSEGV" : NULL);
        assert_finds(s, "two-copies-loaded");
        assert_int_equal(s->found.p[0].severity,
                         differ || crash ? WC_severity_WARNING : WC_severity_NOTE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cuda_major_is_no_finding),
        cmocka_unit_test(cudnn_for_another_cuda_than_its_host),
        cmocka_unit_test(its_own_cuda_dependencies_are_asked_for_in_vain),
        cmocka_unit_test(other_sources_of_the_major),
        cmocka_unit_test(a_part_of_another_release_does_not_say_the_cuda_of_the_facade),
        cmocka_unit_test(a_name_that_cudnn_opened_is_a_source_too),
        cmocka_unit_test(cuda_dependencies_of_another_host_say_nothing),
        cmocka_unit_test(cudnn_finds_no_cublas),
        cmocka_unit_test(a_compiler_that_is_missing_warns_until_a_call_fails),
        cmocka_unit_test(what_a_library_of_cuda_asks_for_in_vain_is_missing),
        cmocka_unit_test(what_a_host_asks_for_in_vain_is_missing_where_it_gave_up),
        cmocka_unit_test(a_host_that_ends_well_lacks_cuda_where_a_gpu_may_be),
        cmocka_unit_test(what_is_needed_for_the_start_is_missing_beside_another_cuda),
        cmocka_unit_test(a_command_that_failed_is_how_its_processes_ended),
        cmocka_unit_test(a_host_that_goes_without_cuda_is_told_when_it_has_ended),
        cmocka_unit_test(who_chooses_the_build_for_the_processor_found_no_cuda),
        cmocka_unit_test(another_cuda_is_asked_for_last),
        cmocka_unit_test(a_name_of_the_compiler_that_is_missing_kills),
        cmocka_unit_test(a_name_of_the_compiler_that_is_told_late_is_of_its_call),
        cmocka_unit_test(a_plain_name_of_the_compiler),
        cmocka_unit_test(a_bundled_half_of_cublas_counts_where_cudnn_aborts),
        cmocka_unit_test(cublas_from_elsewhere),
        cmocka_unit_test(a_toolkit_that_is_meant_is_a_note),
        cmocka_unit_test(installations_that_go_together),
        cmocka_unit_test(two_files_of_one_cuda_library_are_told),
        cmocka_unit_test(two_releases_weigh_more_where_the_process_failed),
        cmocka_unit_test(what_explains_the_crash_leaves_the_copies_a_note),
        cmocka_unit_test(two_facades_of_one_release_weigh_more_after_a_crash),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
