/* SPDX-License-Identifier: Apache-2.0 */
/* The computer's GPUs against the release of cuDNN: gpu-unsupported. */
#include "support_stack.h"

static int64_t cudnn_and_gpus(struct scene *s, struct wc_version v, const char *const *gpus,
                              size_t n) {
    struct wc_record r = begin(WC_KIND_machine);
    r.u.machine.gpus = (struct wc_strings){gpus, n};
    apply(s, &r);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/libhost.so"));
    if (v.major >= 9)
        add_part(s, "/opt/cudnn", "graph", v, facade);
    else if (v.major == 8)
        add_part(s, "/opt/cudnn", "ops_infer", v, facade);
    return facade;
}

static const struct {
    int major, minor, patch;
    const char *gpu;
    int severity; /* WC_severity_NONE: no finding */
} triples[] = {
    {5, 1, 10, "2.1", WC_severity_ERROR},   {5, 1, 10, "3.0", WC_severity_NONE},
    {7, 1, 2, "7.5", WC_severity_NONE}, /* no matrix was seen */
    {7, 6, 5, "7.5", WC_severity_NONE},     {7, 6, 5, "8.0", WC_severity_ERROR},
    {7, 6, 5, "2.0", WC_severity_ERROR},    {8, 2, 4, "8.6", WC_severity_NONE},
    {8, 2, 4, "3.5", WC_severity_NONE},     {8, 8, 1, "3.7", WC_severity_NONE},
    {8, 9, 0, "3.7", WC_severity_ERROR},    {8, 9, 7, "5.0", WC_severity_NONE},
    {8, 9, 7, "9.0", WC_severity_NONE},     {8, 9, 7, "12.0", WC_severity_ERROR},
    {9, 0, 0, "3.7", WC_severity_ERROR},    {9, 1, 0, "8.9", WC_severity_NONE},
    {9, 1, 0, "12.0", WC_severity_WARNING}, {9, 6, 3, "10.0", WC_severity_WARNING},
    {9, 7, 0, "10.0", WC_severity_NONE},    {9, 10, 2, "5.2", WC_severity_NONE},
    {9, 10, 2, "12.1", WC_severity_NONE},   {9, 11, 0, "7.5", WC_severity_NONE},
    {9, 11, 0, "7.0", WC_severity_ERROR},   {9, 14, 0, "6.1", WC_severity_ERROR},
    {9, 28, 0, "13.0", WC_severity_NONE},
};

static void releases_and_capabilities(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof triples / sizeof *triples; i++) {
        struct scene *s = new_scene();
        const char *gpu = print(s, "GPU of somebody, Inc., %s", triples[i].gpu);
        struct wc_version v = version_of(triples[i].major, triples[i].minor, triples[i].patch);
        int64_t facade = cudnn_and_gpus(s, v, &gpu, 1);
        bool none = triples[i].severity == WC_severity_NONE;
        print_message("# %s on %s\n", text_of(s, v), triples[i].gpu);
        assert_finds(s, none ? "" : "gpu-unsupported");
        if (none)
            continue;
        const struct wc_finding_record *r = &s->found.p[0];
        assert_int_equal(r->severity, triples[i].severity);
        assert_int_equal(r->object, facade);
        assert_true(has_fact(r, "GPU", gpu));
        assert_non_null(strstr(r->title, text_of(s, v)));
        assert_advised(s, r, "upgrade-host", "with code for this GPU");
    }
}

static void one_of_several(void **state) {
    (void)state;
    static const char *const gpus[] = {"NVIDIA A100, 8.0", "NVIDIA GT 710, 3.5", "what is this"};
    struct scene *s = new_scene();
    int64_t facade = cudnn_and_gpus(s, version_of(9, 20, 0), gpus, 3);
    assert_finds(s, "gpu-unsupported");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    assert_non_null(strstr(s->found.p[0].title, "GT 710, 3.5"));
    assert_advised(s, &s->found.p[0], "upgrade-host", "CUDA_VISIBLE_DEVICES");
    s = new_scene();
    facade = cudnn_and_gpus(s, version_of(9, 20, 0), gpus + 1, 1);
    add_call(s, "cudnnCreate", 1, facade, 3007, WC_NULL);
    assert_finds(s, "gpu-unsupported init-failed");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_string_equal(s->found.p[1].explained_by, "gpu-unsupported");
}

/* cuDNN 9 runs in part on a GPU that it does not know: until a call fails. */
static void a_newer_gpu_that_is_felt(void **state) {
    (void)state;
    static const char *const gpus[] = {"NVIDIA GeForce RTX 5090, 12.0"};
    struct scene *s = new_scene();
    int64_t facade = cudnn_and_gpus(s, version_of(9, draw(1, 6), 1), gpus, 1);
    add_call(s, "cudnnCreate", 1, facade, 0, WC_NULL);
    assert_finds(s, "gpu-unsupported");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    add_call(s, "cudnnBackendFinalize", 1, facade, 5000, WC_NULL);
    assert_finds(s, "gpu-unsupported call-failed");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_string_equal(s->found.p[1].explained_by, "gpu-unsupported");
}

static void what_is_not_known_is_no_finding(void **state) {
    (void)state;
    static const char *const strange[] = {"", "NVIDIA", ", ", "x, y", "x, 8", NULL};
    struct scene *s = new_scene();
    cudnn_and_gpus(s, version_of(9, 20, 0), NULL, 0);
    assert_finds(s, "");
    s = new_scene();
    cudnn_and_gpus(s, version_of(9, 20, 0), strange, 6);
    assert_finds(s, "");
    static const char *const old[] = {"NVIDIA GT 710, 3.5"};
    s = new_scene();
    cudnn_and_gpus(s, version_of(9, -1, -1), old, 1);
    assert_finds(s, "");
    s = new_scene();
    cudnn_and_gpus(s, version_of(3, 0, 7), old, 1);
    assert_finds(s, "");
}

/* ---- one release, made for several CUDAs ---- */

static const struct {
    int major, minor, cuda; /* cuda 0: nothing tells */
    const char *gpu;
    int severity;
    const char *title; /* a part of it */
} flavours[] = {
    {8, 2, 10, "8.6", WC_severity_ERROR, "8.2.1 for CUDA 10 has no code"},
    {8, 2, 10, "3.0", WC_severity_NONE, NULL},
    {8, 2, 11, "8.6", WC_severity_NONE, NULL},
    {8, 2, 11, "3.0", WC_severity_ERROR, "8.2.1 for CUDA 11 has no code"},
    {8, 2, 0, "3.0", WC_severity_NONE, NULL},
    {8, 8, 12, "3.7", WC_severity_ERROR, "made for 5.0 and later"},
    {8, 8, 11, "3.7", WC_severity_NONE, NULL},
    {8, 9, 11, "9.0", WC_severity_NONE, NULL},
    {9, 6, 11, "12.0", WC_severity_WARNING, "9.6.1 has no code of its own"},
    {9, 8, 11, "12.0", WC_severity_WARNING, "9.8.1 for CUDA 11 has no code of its own"},
    {9, 8, 11, "9.0", WC_severity_NONE, NULL},
    {9, 8, 12, "12.0", WC_severity_NONE, NULL},
    {9, 8, 0, "12.0", WC_severity_NONE, NULL},
    {9, 14, 12, "7.0", WC_severity_ERROR, "9.14.1 has no code"},
    {9, 14, 13, "12.1", WC_severity_NONE, NULL},
};

static void what_a_package_is_made_for_counts_with_its_release(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof flavours / sizeof *flavours; i++) {
        struct scene *s = new_scene();
        const char *gpu = print(s, "GPU, %s", flavours[i].gpu);
        struct wc_version v = version_of(flavours[i].major, flavours[i].minor, 1);
        struct wc_record r = begin(WC_KIND_machine);
        r.u.machine.gpus = (struct wc_strings){&gpu, 1};
        apply(s, &r);
        struct file f = {.role = WC_role_FACADE,
                         .path = print(s, "/opt/cudnn/libcudnn.so.%d", v.major),
                         .version = v,
                         .source = WC_version_source_ASKED_NAMES,
                         .needed = flavours[i].cuda ? print(s, "libcublas.so.%d", flavours[i].cuda)
                                                    : NULL,
                         .asked_by = add_host(s, "/opt/app/libhost.so"),
                         .how = WC_operation_DLOPEN};
        int64_t facade = add_file(s, &f);
        add_part(s, "/opt/cudnn", v.major >= 9 ? "graph" : "ops_infer", v, facade);
        print_message("# %s for %d on %s\n", text_of(s, v), flavours[i].cuda, flavours[i].gpu);
        assert_finds(s, flavours[i].title ? "gpu-unsupported" : "");
        if (!flavours[i].title)
            continue;
        assert_int_equal(s->found.p[0].severity, flavours[i].severity);
        assert_non_null(strstr(s->found.p[0].title, flavours[i].title));
        assert_int_equal(has_fact(&s->found.p[0], "made for", "CUDA"),
                         strstr(s->found.p[0].title, " for CUDA ") != NULL);
    }
}

/* The host goes with its CUDA: a cuDNN for another one would serve nobody. */
static void a_host_of_that_cuda_is_what_has_to_change(void **state) {
    (void)state;
    static const char *const gpus[] = {"NVIDIA GeForce RTX 5090, 12.0"};
    for (int cuda = 11; cuda <= 12; cuda++) {
        struct scene *s = new_scene();
        struct wc_record r = begin(WC_KIND_machine);
        r.u.machine.gpus = (struct wc_strings){gpus, 1};
        apply(s, &r);
        struct file host = {.role = WC_role_HOST,
                            .path = "/opt/app/libhost.so",
                            .needed = print(s, "libcublas.so.%d", cuda),
                            .asked_by = NOBODY};
        struct file f = {.role = WC_role_FACADE,
                         .path = "/opt/cudnn/libcudnn.so.9",
                         .version = version_of(9, 8, 0),
                         .source = WC_version_source_ASKED_NAMES,
                         .installation = "nvidia-cudnn-cu11",
                         .kind = WC_installation_kind_WHEEL,
                         .asked_by = add_file(s, &host),
                         .how = WC_operation_DLOPEN};
        int64_t facade = add_file(s, &f);
        add_part(s, "/opt/cudnn", "graph", version_of(9, 8, 0), facade);
        assert_finds(s, cuda == 11 ? "gpu-unsupported" : "cuda-major-differs gpu-unsupported");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_package_is_made_for_counts_with_its_release),
        cmocka_unit_test(a_host_of_that_cuda_is_what_has_to_change),
        cmocka_unit_test(releases_and_capabilities),
        cmocka_unit_test(one_of_several),
        cmocka_unit_test(a_newer_gpu_that_is_felt),
        cmocka_unit_test(what_is_not_known_is_no_finding),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
