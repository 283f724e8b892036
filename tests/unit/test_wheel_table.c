/* SPDX-License-Identifier: Apache-2.0 */
/* tools/diagnose/wheels.c. What the table says is held against real wheels by
 * tests/real/releases.bats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/diagnose/wheels.h"
#include "tools/util/memory.h"

static struct heap_arena memory;

static const struct wheel_file *file_of(const char *package, const char *release,
                                        const char *file) {
    struct wheel_list l = wheel_list(&memory.arena, package, wheel_version(release));
    return WC_FIRST(f, l, strcmp(f->file, file) == 0);
}

static void parts_came_and_went(void **state) {
    (void)state;
    static const struct {
        const char *package, *release;
        size_t n;
    } rows[] = {
        {"nvidia-cudnn-cu11", "8.5.0.96", 7},      {"nvidia-cudnn-cu12", "8.9.7.29", 7},
        {"nvidia-cudnn-cu11", "9.0.0.312", 8},     {"nvidia-cudnn-cu12", "9.20.0.48", 8},
        {"nvidia-cudnn-cu13", "9.21.0.82", 9},     {"nvidia-cudnn-cu13", "9.22.0.52", 10},
        {"nvidia-cudnn-jit-cu12", "9.27.0.42", 3}, {"nvidia-cublas-cu12", "12.4.5.8", 3},
        {"nvidia-nccl-cu12", "2.26.2.post1", 1},   {"nvidia-cudnn-cu13", "no release", 0},
        {"nvidia-cublas-cu13", "0.0.1", 0},        {"", "9.1.0.70", 0},
    };
    WC_EACH_ROW(row, rows)
        assert_int_equal(wheel_list(&memory.arena, row->package, wheel_version(row->release)).n,
                         row->n);
}

static void rows_of_a_file_begin_with_its_oldest_release(void **state) {
    (void)state;
    static const struct {
        const char *package, *from, *to, *file;
    } rows[] = {
#define WHEEL_FILE(package, from, to, file, needs) {package, from, to, file},
#include "tools/knowledge/wheel_files.def"
    };
    const size_t n = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (strcmp(rows[i].package, rows[k].package) == 0 &&
                strcmp(rows[i].file, rows[k].file) == 0)
                assert_true(*rows[i].to && *rows[k].from &&
                            wc_version_compare(wc_version_of(rows[i].to),
                                               wc_version_of(rows[k].from)) <= 0);
}

static void assert_list(struct entries list, const char *expected) {
    const char *joined = "";
    WC_EACH(one, list)
        joined = wc_arena_format(&memory.arena, "%s%s%s", joined, *joined ? " " : "", *one);
    assert_string_equal(joined, expected);
}

static void a_file_says_what_it_needs_and_where_it_looks(void **state) {
    (void)state;
    const struct wheel_file *f =
        file_of("nvidia-cudnn-cu11", "8.7.0.84", "nvidia/cudnn/lib/libcudnn_ops_infer.so.8");
    assert_string_equal(f->needed, "libcublas.so.11 libcublasLt.so.11");
    assert_string_equal(f->path, "$ORIGIN:$ORIGIN/../../cublas/lib");
    f = file_of("nvidia-cudnn-cu11", "8.8.0.121", "nvidia/cudnn/lib/libcudnn_ops_infer.so.8");
    assert_string_equal(f->needed, "");
    f = file_of("nvidia-cudnn-cu13", "9.16.0.29", "nvidia/cudnn/lib/libcudnn_cnn.so.9");
    assert_string_equal(f->needed, "libcudnn_ops.so.9 libcudnn_graph.so.9 libz.so.1");
    assert_null(strstr(f->path, "cu13"));
    f = file_of("nvidia-cudnn-cu13", "9.17.0.29", "nvidia/cudnn/lib/libcudnn_cnn.so.9");
    assert_true(wc_str_ends(f->path, ":$ORIGIN/../../cu13/lib"));
    f = file_of("nvidia-cudnn-cu12", "9.21.0.82", "nvidia/cudnn/lib/libcudnn.so.9");
    assert_string_equal(f->path, "$ORIGIN");
    assert_false(f->is_rpath);
    f = file_of("nvidia-cudnn-cu12", "9.21.1.3", "nvidia/cudnn/lib/libcudnn.so.9");
    assert_string_equal(f->path, "$ORIGIN");
    assert_true(f->is_rpath);
    f = file_of("nvidia-cuda-runtime", "13.0.96", "nvidia/cu13/lib/libcudart.so.13");
    assert_null(f->path);
    assert_non_null(file_of("nvidia-cuda-nvrtc-cu12", "12.4.127",
                            "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.4"));
}

static void what_comes_with_a_wheel(void **state) {
    (void)state;
    assert_list(wheel_required(&memory.arena, "nvidia-cudnn-cu12", wheel_version("8.9.4.25")),
                "nvidia-cublas-cu12 nvidia-cuda-nvrtc-cu12");
    assert_list(wheel_required(&memory.arena, "nvidia-cudnn-cu12", wheel_version("9.1.0.70")),
                "nvidia-cublas-cu12");
    assert_list(wheel_required(&memory.arena, "nvidia-nccl-cu12", wheel_version("2.20.5")), "");
}

static void assert_newest(const char *package, const char *spec, const char *expected) {
    const char *found = wheel_newest(package, spec);
    if (!expected)
        assert_null(found);
    else
        assert_string_equal(found, expected);
}

static void the_newest_release_of_a_set(void **state) {
    (void)state;
    assert_newest("nvidia-cudnn-cu12", "==9.8.0.87", "9.8.0.87");
    assert_newest("nvidia-cudnn-cu12", ">=8,<9", "8.9.7.29");
    assert_newest("nvidia-cudnn-cu11", ">=8,<9", "8.9.6.50");
    assert_newest("nvidia-cudnn-cu11", ">=9.11", NULL);
    assert_newest("nvidia-cudnn-cu11", "", "9.10.2.21");
    assert_newest("nvidia-cudnn-cu13", "==9.8.*", NULL);
    assert_newest("nvidia-cudnn-cu12", "==9.8.0.88", NULL);
    assert_newest("nvidia-cudnn-cu12", ">=9.99", NULL);
    assert_newest("nvidia-cudnn-cu12", "9.8 or so", NULL);
    assert_newest("nvidia-cudnn-cu10", "", NULL);
    assert_newest("nvidia-cudnn-cu14", "", NULL);
    assert_newest("nvidia-cublas-cu12", "", NULL);
}

static void assert_with(const char *soname, int32_t cuda, const char *package, const char *spec) {
    const char *found_spec, *found = wheel_with(&memory.arena, soname, cuda, &found_spec);
    if (!package) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, package);
    assert_string_equal(found_spec, spec);
}

static void which_wheel_has_a_library(void **state) {
    (void)state;
    assert_with("libcublasLt.so.12", -1, "nvidia-cublas-cu12", "");
    assert_with("libcublas.so.13", -1, "nvidia-cublas", "==13.*");
    assert_with("libcudart.so.11.0", -1, "nvidia-cuda-runtime-cu11", "");
    assert_with("libcufft.so.12", 13, "nvidia-cufft", "==12.*");
    assert_with("libcufft.so.11", 12, "nvidia-cufft-cu12", "");
    assert_with("libcufft.so.12", 12, NULL, NULL);
    assert_with("libcurand.so.10", 11, "nvidia-curand-cu11", "");
    assert_with("libcurand.so.10", -1, NULL, NULL); /* of which CUDA it does not say */
    assert_with("libcusparse.so.12", 13, "nvidia-cusparse", "==12.*");
    assert_with("libnvToolsExt.so.1", 12, "nvidia-nvtx-cu12", "<12.9");
    assert_with("libnvToolsExt.so.1", 13, NULL, NULL);
    assert_with("libnvrtc-builtins.so.12.4", -1, "nvidia-cuda-nvrtc-cu12", "==12.4.*");
    assert_with("libnvrtc-builtins.so.13.0", -1, "nvidia-cuda-nvrtc", "==13.0.*");
    assert_with("libnvtx3interop.so.1", 13, "nvidia-nvtx", ""); /* its number is of no CUDA */
    assert_with("libnccl.so.2", 13, "nvidia-nccl-cu13", "");
    assert_with("libcusparseLt.so.0", 12, "nvidia-cusparselt-cu12", "");
    assert_with("libcublas.so.14", -1, NULL, NULL);
    assert_with("libcublas.so", -1, NULL, NULL);
    assert_with("libx.so.12", 12, NULL, NULL);
}

static void assert_hosts(const char *package, const char *wheel, const char *release,
                         const char *expected) {
    const char *found = host_releases(&memory.arena, package, wheel, wheel_version(release));

    if (!expected) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, expected);
}

static void which_host_takes_a_cudnn(void **state) {
    (void)state;
    assert_hosts("torch", "nvidia-cudnn-cu12", "9.1.0.70", ">=2.4,<2.7");
    assert_hosts("torch", "nvidia-cudnn-cu12", "9.1.1.17", NULL);
    assert_hosts("torch", "nvidia-cudnn-cu13", "9.1.0.70", NULL);
    assert_hosts("tensorflow", "nvidia-cudnn-cu12", "9.3.0.75", ">=2.20,<2.22");
    assert_hosts("tensorflow", "nvidia-cudnn-cu12", "8.9.7.29", ">=2.16,<2.18");
    assert_hosts("jax-cuda12-plugin", "nvidia-cudnn-cu12", "9.8.0.87", ">=0.6,<0.11.2");
    assert_hosts("jax-cuda12-plugin", "nvidia-cudnn-cu12", "8.9.7.29", NULL);
    assert_hosts("ctranslate2", "nvidia-cudnn-cu12", "9.8.0.87", ">=4.5,<4.6.3");
    assert_hosts("ctranslate2", "nvidia-cudnn-cu12", "8.9.7.29", ">=4.0,<4.5");
    assert_hosts("ctranslate2", "nvidia-cudnn-cu12", "9.0.0.312", NULL);
}

static int begin(void **state) {
    (void)state;
    heap_arena_begin(&memory);
    return 0;
}

static int end(void **state) {
    (void)state;
    heap_arena_end(&memory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_came_and_went),
        cmocka_unit_test(rows_of_a_file_begin_with_its_oldest_release),
        cmocka_unit_test(a_file_says_what_it_needs_and_where_it_looks),
        cmocka_unit_test(what_comes_with_a_wheel),
        cmocka_unit_test(the_newest_release_of_a_set),
        cmocka_unit_test(which_wheel_has_a_library),
        cmocka_unit_test(which_host_takes_a_cudnn),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
