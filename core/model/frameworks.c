/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See frameworks.h. From the wheels of PyTorch 1.13 to 2.15, jaxlib 0.4 to 0.10, TensorFlow 2.15
 * and 2.21, ONNX Runtime 1.31 and MXNet 1.9.
 */
#include "frameworks.h"

/* A file whose name begins so, up to a dot, is in every build of it. */
static const struct {
    const char *framework, *stem;
} mains[] = {
    {"torch", "libtorch_cpu"},
    {"jax", "libjax_common"},
    {"jax", "xla_extension"},
    {"tensorflow", "libtensorflow_framework"},
    {"onnxruntime", "onnxruntime_pybind11_state"},
    {"onnxruntime", "libonnxruntime"},
    {"mxnet", "libmxnet"},
};

/* A file that only its builds for CUDA have, from the directory of the main library; "" where
 * cuDNN's functions, or stubs of them, are in the main library itself. */
static const struct {
    const char *framework, *beside;
} gpu_libraries[] = {
    {"torch", "libtorch_cuda.so"},
    {"jax", "../jax_plugins/xla_cuda13/xla_cuda_plugin.so"},
    {"jax", "../jax_plugins/xla_cuda12/xla_cuda_plugin.so"},
    {"jax", "cuda/_versions.so"},
    {"tensorflow", ""},
    {"onnxruntime", "libonnxruntime_providers_cuda.so"},
    {"mxnet", ""},
};

/* A library whose file name begins so, in any folder or in this one, opens libcudnn.so.N by that
 * name, N being the major that it was built for, or uses what its package has opened; nothing in
 * its symbols shows that. Those that export stubs show it. */
static const struct {
    const char *folder, *stem;
} openers[] = {
    {NULL, "xla_cuda_plugin"},
    {NULL, "libonnxruntime_providers_cuda"},
    {NULL, "libphi"},
    {NULL, "libpaddle"},
    {NULL, "_versions"}, /* jax_cuda12_plugin */
    {"cudnn", "_compiled_module"},
};

/* jax_plugins/cuda/__init__.py, torch/__init__.py (_preload_cuda_deps), paddle/__init__.py,
 * transformer_engine/common/__init__.py, cudnn/__init__.py. */
static const struct wc_framework_file preloads[] = {
    {"jax_plugins", NULL, "nvidia/cudnn/lib/libcudnn.so.[0-9]*", 0},
    {"jax_cuda12_plugin", "jax_plugins", "nvidia/cudnn/lib/libcudnn.so.[0-9]*", 0},
    {"jax_cuda13_plugin", "jax_plugins", "nvidia/cudnn/lib/libcudnn.so.[0-9]*", 0},
    {"paddle", NULL, "nvidia/cudnn/lib/libcudnn.so*", WC_FRAMEWORK_FILE_IF_REQUIRED},
    {"transformer_engine", NULL, "nvidia/cudnn/lib/lib*.so.*[0-9]",
     WC_FRAMEWORK_FILE_IF_MISSING | WC_FRAMEWORK_FILE_ALL},
    {"cudnn", NULL, "libcudnn.so{.9,}", WC_FRAMEWORK_FILE_ON_PATH},
    {"cudnn", NULL, "nvidia/cudnn/lib/libcudnn.so.*[0-9]", WC_FRAMEWORK_FILE_OTHERWISE},
    {"cudnn", NULL, "nvidia/cudnn_jit/lib/libcudnn.so.*[0-9]", WC_FRAMEWORK_FILE_OTHERWISE},
    {"cudnn", NULL, "libcudnn.so.9", WC_FRAMEWORK_FILE_OTHERWISE},
    {"cudnn", NULL, "libcudnn.so", WC_FRAMEWORK_FILE_OTHERWISE},
    {"torch", NULL, "nvidia/cublas/lib/libcublas.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cudnn/lib/libcudnn.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cuda_nvrtc/lib/libnvrtc.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cuda_runtime/lib/libcudart.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cuda_cupti/lib/libcupti.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cufft/lib/libcufft.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/curand/lib/libcurand.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/nvjitlink/lib/libnvJitLink.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cusparse/lib/libcusparse.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cusparselt/lib/libcusparseLt.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/cusolver/lib/libcusolver.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
    {"torch", NULL, "nvidia/nccl/lib/libnccl.so.*[0-9]", WC_FRAMEWORK_FILE_IF_MISSING},
};

static bool begins(const char *name, const char *stem) {
    return wc_str_starts(name, stem) && name[wc_str_length(stem)] == '.';
}

const char *wc_framework_of(const char *path) {
    const char *name = path ? wc_base_name(path) : "";

    if (name[0] != 'l' && name[0] != 'o' && name[0] != 'x') /* asked of every object there is */
        return NULL;
    WC_EACH_ROW(row, mains)
        if (begins(name, row->stem))
            return row->framework;
    return NULL;
}

const char *wc_framework_gpu_library(const char *framework, size_t i) {
    WC_EACH_ROW(row, gpu_libraries)
        if (wc_str_same(row->framework, framework) && i-- == 0)
            return row->beside;
    return NULL;
}

static bool is_in(const char *path, const char *folder) {
    const char *end = wc_base_name(path);
    size_t n = wc_str_length(folder) + 1, length = (size_t)(end - path);

    return length >= n && wc_mem_compare(end - n, folder, n - 1) == 0 &&
           (length == n || end[-(ptrdiff_t)n - 1] == '/');
}

bool wc_framework_opens_cudnn(const char *path) {
    WC_EACH_ROW(row, openers)
        if (begins(wc_base_name(path), row->stem) && (!row->folder || is_in(path, row->folder)))
            return true;
    return false;
}

const struct wc_framework_file *wc_framework_preload(const char *folder, size_t length,
                                                     bool if_missing, size_t i) {
    WC_EACH_ROW(row, preloads)
        if (!!(row->how & WC_FRAMEWORK_FILE_IF_MISSING) == if_missing &&
            wc_str_length(row->folder) == length &&
            wc_mem_compare(row->folder, folder, length) == 0 && i-- == 0)
            return row;
    return NULL;
}
