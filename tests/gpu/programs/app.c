// SPDX-License-Identifier: Apache-2.0
// A program bound to cuDNN when it was linked: one convolution, each status printed. HOW names a
// fault of its own.
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int status = (int)(call);                                                                  \
        if (status != 0) {                                                                         \
            fprintf(stderr, "%s:%d: %s returned %d\n", __FILE__, __LINE__, #call, status);         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

int main(void) {
    const char *how = getenv("HOW") != NULL ? getenv("HOW") : "";
    cudnnHandle_t handle = NULL;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
    size_t size = 0;
    void *memory = NULL;
    void *data = NULL;
    const float one = 1, zero = 0;
    fprintf(stderr, "built with %d, runs with %zu\n", CUDNN_VERSION, cudnnGetVersion());
    CHECK(cudnnCreate(&handle));
    CHECK(cudnnCreateTensorDescriptor(&x));
    CHECK(cudnnCreateTensorDescriptor(&y));
    CHECK(cudnnCreateFilterDescriptor(&w));
    CHECK(cudnnCreateConvolutionDescriptor(&convolution));
    CHECK(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 3, 32, 32));
    CHECK(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 30,
                                     strcmp(how, "badparam") == 0 ? 29 : 30));
    CHECK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 3, 3, 3));
    CHECK(cudnnSetConvolution2dDescriptor(convolution, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                          CUDNN_DATA_FLOAT));
    CHECK(cudaMalloc(&data, 1 << 22));
    if (strcmp(how, "oom") == 0) {
        size_t free_bytes, all;
        CHECK(cudaMemGetInfo(&free_bytes, &all));
        CHECK(cudaMalloc(&memory, free_bytes - (4 << 20)));
    }
    if (strcmp(how, "nohandle") == 0)
        handle = NULL;
    CHECK(cudnnGetConvolutionForwardWorkspaceSize(
        handle, x, w, convolution, y, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, &size));
    CHECK(cudaMalloc(&memory, size + 1));
    CHECK(cudnnConvolutionForward(handle, &one, x, data, w, data, convolution,
                                  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, memory, size,
                                  &zero, y, (char *)data + (1 << 20)));
    CHECK(cudaDeviceSynchronize());
    puts("works");
}
