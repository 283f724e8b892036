/* SPDX-License-Identifier: Apache-2.0 */
/* core/names/names.c: what names print, and which paths hint at CUDA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/names/names.h"
#include "support_seed.h"

static struct wc_name read_name(const char *name) {
    struct wc_name n;
    memset(&n, 0x5a, sizeof n);
    n = wc_name_read(name);
    return n;
}

static void assert_name(const char *name, enum wc_name_kind kind, const char *part,
                        const char *version) {
    char text[WC_VERSION_TEXT];
    struct wc_name n = read_name(name);
    assert_int_equal(n.kind, kind);
    assert_string_equal(n.part, part);
    assert_string_equal(wc_version_format(n.version, text), version);
}

static void facades(void **state) {
    (void)state;
    assert_name("libcudnn.so", WC_NAME_FACADE, "", "unknown");
    assert_name("libcudnn.so.9", WC_NAME_FACADE, "", "9");
    assert_name("/usr/local/cuda/lib64/libcudnn.so.8.9.7", WC_NAME_FACADE, "", "8.9.7");
    assert_name("libcudnn-c8a8982f.so.8", WC_NAME_FACADE, "", "8");
    assert_name("libcudart.41118559.so.12", WC_NAME_CUDA_DEPENDENCY, "cudart", "12");
    assert_name("x/ctranslate2.libs/libcudnn-74a4c495.so.9.1.0", WC_NAME_FACADE, "", "9.1.0");
    assert_name("libcudnn.so.9.old", WC_NAME_FACADE, "", "unknown");
}

static void parts(void **state) {
    (void)state;
    assert_name("libcudnn_graph.so.9", WC_NAME_PART, "graph", "9");
    assert_name("/a/libcudnn_engines_tensor_ir.so.9.21.1", WC_NAME_PART, "engines_tensor_ir",
                "9.21.1");
    assert_name("libcudnn_ops_infer-81cab37b.so.8.6.0", WC_NAME_PART, "ops_infer", "8.6.0");
}

static void cuda_dependencies_and_driver(void **state) {
    (void)state;
    assert_name("libcublasLt.so.13", WC_NAME_CUDA_DEPENDENCY, "cublasLt", "13");
    assert_name("libcublas-37d11411.so.11", WC_NAME_CUDA_DEPENDENCY, "cublas", "11");
    assert_name("libnvrtc-builtins.so.13.0", WC_NAME_CUDA_DEPENDENCY, "nvrtc-builtins", "13.0");
    assert_name("libcufft.so.11.3.0.4", WC_NAME_CUDA_DEPENDENCY, "cufft", "11.3.0.4");
    assert_name("/usr/lib/libcuda.so.580.65.06", WC_NAME_DRIVER, "", "580.65.6");
}

static void others(void **state) {
    (void)state;
    const char *const names[] = {"",
                                 "/",
                                 "libcudnn",
                                 "libcudnn.soup",
                                 "libcudnn_.so.9",
                                 "libcudnn_static.a",
                                 "cudnn.so.9",
                                 "xlibcudnn.so.9",
                                 "libcudnn.so.9/other.txt",
                                 "libcudart_static.a",
                                 "libcublasLtX.so.13",
                                 "libcudadebugger.so.1",
                                 "libcudnn-9.so.9",
                                 "libc.so.6",
                                 "libtorch_cuda.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_name(names[i], WC_NAME_OTHER, "", "unknown");
    assert_int_equal(read_name(NULL).kind, WC_NAME_OTHER);
}

static void a_long_part_is_cut(void **state) {
    (void)state;
    char name[200];
    snprintf(name, sizeof name, "libcudnn_%0150d.so.9", 7);
    struct wc_name n = read_name(name);
    assert_int_equal(n.kind, WC_NAME_PART);
    assert_int_equal(strlen(n.part), sizeof n.part - 1);
}

/* A drawn release is read back from each kind of name that carries it. */
static void drawn_versions(void **state) {
    (void)state;
    for (int i = 0; i < 500; i++) {
        int v[3] = {1 + rand() % 20, rand() % 40, rand() % 10};
        char text[64], name[160];
        snprintf(text, sizeof text, "%d.%d.%d", v[0], v[1], v[2]);
        snprintf(name, sizeof name, "/d%d/libcudnn.so.%s", rand(), text);
        assert_name(name, WC_NAME_FACADE, "", text);
        snprintf(name, sizeof name, "libcudnn_ops-%08x.so.%s", (unsigned)rand(), text);
        assert_name(name, WC_NAME_PART, "ops", text);
    }
}

static void hints(void **state) {
    (void)state;
    const char *const yes[] = {
        "libcudnn.so.9",
        "libcuda.so.1",
        "/usr/local/cuda-13.0/lib64/libfoo.so",
        "/venv/lib/python3.12/site-packages/torch/lib/libc10.so",
        "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn_graph.so.9",
        "/v/site-packages/jaxlib/_jax.so",
        "/v/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so",
        "libtensorflow_framework.so.2",
        "libtorch_global_deps.so",
        "/v/site-packages/onnxruntime/capi/libonnxruntime_providers_cuda.so",
        "libpaddle.so",
        "/x/libmxnet.so",
        "/v/site-packages/cupy/_core/core.so",
        "/v/site-packages/ctranslate2.libs/libgomp.so.1",
        "libnvJitLink.so.13",
        "libc10_cuda.so",
        "/opt/TensorRT-10/lib/libfoo.so",
    };
    const char *const no[] = {
        "/usr/lib/x86_64-linux-gnu/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
        "libm.so.6",
        "/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so",
        "/opt/envs/cuda12/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so",
        "/home/u/torch/lib/python3.11/site-packages/numpy/core/_multiarray_umath.so",
        "/home/u/tensorflow/libz.so.1",
        "/srv/www/ajax/libajax.so",
        "/v/site-packages/glusterfs/xlator.so",
        "/v/site-packages/jaxb/x.so",
        "/v/site-packages/barracuda/x.so",
        "/v/site-packages/storch/x.so",
        "",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        print_message("# hints: %s\n", yes[i]);
        assert_true(wc_name_hints(yes[i]));
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        print_message("# does not hint: %s\n", no[i]);
        assert_false(wc_name_hints(no[i]));
    }
    assert_false(wc_name_hints(NULL));
}

static void the_cuda_in_a_name(void **state) {
    (void)state;
    assert_int_equal(wc_name_cuda("libcublas.so.12"), 12);
    assert_int_equal(wc_name_cuda("/usr/lib/libcublasLt.so.11.4.1"), 11);
    assert_int_equal(wc_name_cuda("libcudart.so.10.2"), 10);
    assert_int_equal(wc_name_cuda("libnvrtc-builtins.so.13.0"), 13);
    assert_int_equal(wc_name_cuda("libnvrtc.so"), -1);
    /* These count by themselves. */
    assert_int_equal(wc_name_cuda("libcufft.so.11"), -1);
    assert_int_equal(wc_name_cuda("libnccl.so.2"), -1);
    assert_int_equal(wc_name_cuda("libcudnn.so.9"), -1);
    assert_int_equal(wc_name_cuda("libcuda.so.1"), -1);
    assert_int_equal(wc_name_cuda(NULL), -1);
}

static void a_name_fits_by_path_base_or_soname(void **state) {
    (void)state;
    assert_true(wc_name_fits("liba.so.1", "/x/liba.so.1", NULL));
    assert_true(wc_name_fits("liba.so.1", "/x/other", "liba.so.1"));
    assert_false(wc_name_fits("liba.so.1", "/x/liba.so.2", "liba.so.2"));
    assert_true(wc_name_fits("/x/liba.so", "/x/liba.so", NULL));
    assert_true(wc_name_fits("./liba.so", "/y/liba.so", NULL));
    assert_true(wc_name_fits("/y/liba.so.1", "/x/real.so", "liba.so.1"));
    assert_false(wc_name_fits("/y/libb.so", "/x/liba.so", "liba.so"));
    assert_false(wc_name_fits(NULL, "/x/liba.so", NULL));
    assert_false(wc_name_fits("", "/x/liba.so", ""));
    assert_false(wc_name_fits("liba.so", NULL, "liba.so"));
}

int main(void) {
    seed_draws();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facades),
        cmocka_unit_test(the_cuda_in_a_name),
        cmocka_unit_test(parts),
        cmocka_unit_test(cuda_dependencies_and_driver),
        cmocka_unit_test(others),
        cmocka_unit_test(a_long_part_is_cut),
        cmocka_unit_test(drawn_versions),
        cmocka_unit_test(hints),
        cmocka_unit_test(a_name_fits_by_path_base_or_soname),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
