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

/* A library whose file name begins so opens libcudnn.so.N by that name, N being the major that it
 * was built for; nothing in its symbols shows that. Those that export stubs show it. */
static const char *const openers[] = {
    "xla_cuda_plugin", "libonnxruntime_providers_cuda", "libphi", "libpaddle",
    "_versions", /* jax_cuda12_plugin */
};

/* jax_plugins/cuda/__init__.py, torch/__init__.py (_preload_cuda_deps), paddle/__init__.py,
 * transformer_engine/common/__init__.py. */
static const struct wc_framework_file preloads[] = {
    {"jax_plugins", NULL, "nvidia/cudnn/lib/libcudnn.so.[0-9]*", false, false},
    {"jax_cuda12_plugin", "jax_plugins", "nvidia/cudnn/lib/libcudnn.so.[0-9]*", false, false},
    {"jax_cuda13_plugin", "jax_plugins", "nvidia/cudnn/lib/libcudnn.so.[0-9]*", false, false},
    {"paddle", NULL, "nvidia/cudnn/lib/libcudnn.so*", false, false},
    {"transformer_engine", NULL, "nvidia/cudnn/lib/lib*.so.*[0-9]", true, true},
    {"torch", NULL, "nvidia/cublas/lib/libcublas.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cudnn/lib/libcudnn.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cuda_nvrtc/lib/libnvrtc.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cuda_runtime/lib/libcudart.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cuda_cupti/lib/libcupti.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cufft/lib/libcufft.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/curand/lib/libcurand.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/nvjitlink/lib/libnvJitLink.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cusparse/lib/libcusparse.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cusparselt/lib/libcusparseLt.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/cusolver/lib/libcusolver.so.*[0-9]", true, false},
    {"torch", NULL, "nvidia/nccl/lib/libnccl.so.*[0-9]", true, false},
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

bool wc_framework_opens_cudnn(const char *path) {
    WC_EACH_ROW(stem, openers)
        if (begins(wc_base_name(path), *stem))
            return true;
    return false;
}

const struct wc_framework_file *wc_framework_preload(const char *folder, size_t length,
                                                     bool if_missing, size_t i) {
    WC_EACH_ROW(row, preloads)
        if (row->if_missing == if_missing && wc_str_length(row->folder) == length &&
            wc_mem_compare(row->folder, folder, length) == 0 && i-- == 0)
            return row;
    return NULL;
}
