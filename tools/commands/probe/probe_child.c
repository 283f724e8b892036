/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_child.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/model/status.h"
#include "core/names/version.h"
#include "gpus.h"

/* As cudnn.h and cuda.h have them: handles are pointers, enumerations are int. */
typedef void *cudnnHandle_t, *cudnnTensorDescriptor_t, *cudnnFilterDescriptor_t;
typedef void *cudnnConvolutionDescriptor_t, *CUcontext;
typedef int cudnnStatus_t, cudnnTensorFormat_t, cudnnDataType_t, cudnnConvolutionMode_t;
typedef int cudnnConvolutionFwdAlgo_t, CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
enum { NCHW = 0, FLOAT = 0, CROSS_CORRELATION = 1, IMPLICIT_GEMM = 0 };

enum { SIZE = 4, FILTER = 3, RESULT = SIZE - FILTER + 1 }; /* of each side */

struct probe {
    struct {
#define CUDNN(name, arguments) cudnnStatus_t(*name) arguments;
#define CUDA(name, arguments) CUresult(*name) arguments;
#include "probe_calls.def"
        size_t (*cudnnGetVersion)(void);
    } call;
    void *cudnn, *cuda;
    int32_t major;
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
};

/* What comes next may not come back. */
static void __attribute__((format(printf, 1, 2))) say(const char *format, ...) {
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

/* ---- cuDNN is loaded ---- */

/* Where none is found, what the loader reported about the first name. */
static bool load(struct probe *p, const char *path) {
    const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so.7", "libcudnn.so"};
    const size_t n = path ? 1 : sizeof(names) / sizeof(names[0]);
    const char *name = NULL, *words;
    char said[512] = "";
    size_t number;

    say("step dlopen");
    for (size_t i = 0; i < n && !p->cudnn; i++) {
        name = path ? path : names[i];
        p->cudnn = dlopen(name, RTLD_LAZY);
        words = p->cudnn ? NULL : dlerror();
        if (words && !*said)
            snprintf(said, sizeof(said), "%s", words);
    }
    say(p->cudnn ? "name %s" : "failed %s", p->cudnn ? name : *said ? said : "no words");
    if (!p->cudnn)
        return false;
    say("step dlsym");
#define FIND(library, name, text)                                                                  \
    if (!look_up_function(library, #name, &p->call.name)) {                                        \
        say(text #name);                                                                           \
        return false;                                                                              \
    }
#define CUDNN(name, arguments) FIND(p->cudnn, name, "failed it has no ")
#define CUDA(name, arguments)
#include "probe_calls.def"
    FIND(p->cudnn, cudnnGetVersion, "failed it has no ")
    say("step cudnnGetVersion");
    number = p->call.cudnnGetVersion();
    p->major = wc_version_from_number(number).major;
    say("version %zu", number);
    return true;
}

/* ---- is there a GPU? ---- */

static bool has_gpu(struct probe *p) {
    char name[128] = "";
    int count = 0, result;
    CUdevice device;

    say("step cuInit");
    p->cuda = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!p->cuda) {
        say("nogpu libcuda.so.1, the driver's library, cannot be loaded");
        return false;
    }
#define CUDNN(name, arguments)
#define CUDA(name, arguments) FIND(p->cuda, name, "nogpu libcuda.so.1 has no ")
#include "probe_calls.def"
    result = p->call.cuInit(0);
    if (result != 0)
        say("nogpu cuInit returned %d", result);
    else if (p->call.cuDeviceGetCount(&count) != 0 || count == 0)
        say("nogpu the driver has no GPU");
    if (result != 0 || count == 0)
        return false;
    if (p->call.cuDeviceGet(&device, 0) == 0)
        p->call.cuDeviceGetName(name, sizeof(name) - 1, device);
    name[strcspn(name, "\n")] = '\0';
    say("gpu %s", name);
    return true;
}

/* ---- one small convolution ---- */

static bool succeeds(const struct probe *p, bool of_driver, int status) {
    const char *name = of_driver ? NULL : wc_status_name(status, p->major);

    if (status != 0 && of_driver)
        say("failed returned CUresult %d", status);
    else if (status != 0)
        say("failed returned %s (%d)", name ? name : "an unknown status", status);
    return status == 0;
}

#define TRY(p, name, ...) (say("step " #name), succeeds(p, false, (p)->call.name(__VA_ARGS__)))
#define TRY_CUDA(p, name, ...) (say("step " #name), succeeds(p, true, (p)->call.name(__VA_ARGS__)))

static bool put(struct probe *p, CUdeviceptr *to, const float *values, size_t n) {
    return TRY_CUDA(p, cuMemAlloc_v2, to, n * sizeof(*values)) &&
           TRY_CUDA(p, cuMemcpyHtoD_v2, *to, values, n * sizeof(*values));
}

static void *pointer(CUdeviceptr address) {
    return (void *)(uintptr_t)address;
}

static bool convolve(struct probe *p, const float *x, const float *w, float *y) {
    const float one = 1, zero = 0;
    CUdeviceptr on_x, on_w, on_y, room = 0;
    size_t size = 0;

    /* What goes wrong on the GPU is reported by the copy, which waits for it. */
    return TRY(p, cudnnCreateTensorDescriptor, &p->x) &&
           TRY(p, cudnnCreateTensorDescriptor, &p->y) &&
           TRY(p, cudnnCreateFilterDescriptor, &p->w) &&
           TRY(p, cudnnCreateConvolutionDescriptor, &p->convolution) &&
           TRY(p, cudnnSetTensor4dDescriptor, p->x, NCHW, FLOAT, 1, 1, SIZE, SIZE) &&
           TRY(p, cudnnSetTensor4dDescriptor, p->y, NCHW, FLOAT, 1, 1, RESULT, RESULT) &&
           TRY(p, cudnnSetFilter4dDescriptor, p->w, FLOAT, NCHW, 1, 1, FILTER, FILTER) &&
           TRY(p, cudnnSetConvolution2dDescriptor, p->convolution, 0, 0, 1, 1, 1, 1,
               CROSS_CORRELATION, FLOAT) &&
           put(p, &on_x, x, (size_t)SIZE * SIZE) && put(p, &on_w, w, (size_t)FILTER * FILTER) &&
           put(p, &on_y, y, (size_t)RESULT * RESULT) &&
           TRY(p, cudnnGetConvolutionForwardWorkspaceSize, p->handle, p->x, p->w, p->convolution,
               p->y, IMPLICIT_GEMM, &size) &&
           (size == 0 || TRY_CUDA(p, cuMemAlloc_v2, &room, size)) &&
           TRY(p, cudnnConvolutionForward, p->handle, &one, p->x, pointer(on_x), p->w,
               pointer(on_w), p->convolution, IMPLICIT_GEMM, pointer(room), size, &zero, p->y,
               pointer(on_y)) &&
           TRY_CUDA(p, cuMemcpyDtoH_v2, y, on_y, (size_t)RESULT * RESULT * sizeof(*y));
}

static bool compute(struct probe *p) {
    float x[SIZE * SIZE], w[FILTER * FILTER], y[RESULT * RESULT] = {0};

    /* Small whole numbers: exact in every format that a GPU computes in. */
    for (int i = 0; i < SIZE * SIZE; i++)
        x[i] = (float)(i % 5);
    for (int i = 0; i < FILTER * FILTER; i++)
        w[i] = (float)(i % 3 - 1);
    if (!convolve(p, x, w, y))
        return false;
    say("step the result");
    for (int i = 0; i < RESULT * RESULT; i++) {
        float right = 0;
        for (int k = 0; k < FILTER * FILTER; k++)
            right += x[(i / RESULT + k / FILTER) * SIZE + i % RESULT + k % FILTER] * w[k];
        if (!(y[i] >= right && y[i] <= right)) { /* it may be no number */
            say("failed the convolution gave wrong values");
            return false;
        }
    }
    return true;
}

int probe_child(const char *path) {
    struct probe p = {.major = -1};
    CUcontext context;
    CUdevice device;

    if (!load(&p, path))
        return 0;
    bool gpu = has_gpu(&p);
    if ((gpu && !(TRY_CUDA(&p, cuDeviceGet, &device, 0) &&
                  TRY_CUDA(&p, cuDevicePrimaryCtxRetain, &context, device) &&
                  TRY_CUDA(&p, cuCtxSetCurrent, context))) ||
        !TRY(&p, cudnnCreate, &p.handle) || !gpu || !compute(&p) ||
        !TRY(&p, cudnnDestroy, p.handle))
        return 0;
    say("works ");
    say("step the end of the process"); /* with what the library does there */
    return 0;
}
