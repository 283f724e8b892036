/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's libraries beside cuDNN, and the driver's: one of the macros says which. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CUDART
int cudaRuntimeGetVersion(int *version);
int cudaRuntimeGetVersion(int *version) {
    *version = CUDART;
    return 0;
}
int cudaGetDeviceCount(int *count);
int cudaGetDeviceCount(int *count) {
    void *cuda = dlopen("libcuda.so.1", RTLD_LAZY);
    int (*init)(unsigned) = cuda ? (int (*)(unsigned))dlsym(cuda, "cuInit") : NULL;
    *count = init && !init(0);
    return *count ? 0 : 35; /* cudaErrorInsufficientDriver */
}
#elif defined CUBLAS
#ifdef NEWER_LT /* what its own release of libcublasLt has, and an older one has not */
int cublasLtGetStatusString(void);
int (*const status_string)(void) = cublasLtGetStatusString;
#endif
int cublasCreate_v2(void);
int cublasCreate_v2(void) {
    return 0;
}
#elif defined CUBLASLT
#ifdef NEWER_LT
int cublasLtGetStatusString(void);
int cublasLtGetStatusString(void) {
    return 0;
}
#endif
#ifndef WITHOUT_CREATE
int cublasLtCreate(void);
int cublasLtCreate(void) {
    return 0;
}
#endif
int cublasLtGetVersion(void);
int cublasLtGetVersion(void) {
    return CUBLASLT;
}
#elif defined NVRTC
int nvrtcVersion(void);
int nvrtcVersion(void) {
    return 0;
}
int nvrtcCompileProgram(void);
int nvrtcCompileProgram(void) {
    return dlopen(NVRTC, RTLD_LAZY) ? 0 : 7; /* NVRTC_ERROR_BUILTIN_OPERATION_FAILURE */
}
#elif defined CUDA
/*
 * What is wrong with the driver stands in a file of the world; GPUs that are hidden, and device
 * files that this user may not open, it sees itself.
 */
static int state(void) {
    int error = 0, device = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (device >= 0)
        close(device);
    else if (errno == EACCES)
        return 304; /* CUDA_ERROR_OPERATING_SYSTEM */
    if (visible && (!*visible || atoi(visible) < 0 || atoi(visible) > 7))
        return 100; /* CUDA_ERROR_NO_DEVICE */
    FILE *file = fopen("/proc/driver/nvidia/cuInit", "r");
    if (file && fscanf(file, "%d", &error) != 1)
        error = 0;
    if (file)
        fclose(file);
    return error;
}
int cuInit(unsigned flags);
int cuInit(unsigned flags) {
    static pid_t first; /* with 3 it does not live on in a child that was forked */
    (void)flags;
    if (!first)
        first = getpid();
    if (CUDA == 3)
        return first == getpid() ? state() : 3;
    return CUDA ? CUDA : state();
}
int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) {
    *version = 12080;
    return 0;
}
#elif defined NVML
int nvmlInit_v2(void);
int nvmlInit_v2(void) {
    return 0;
}
int nvmlShutdown(void);
int nvmlShutdown(void) {
    return 0;
}
static int gpu(int *major, int *minor, char *name, unsigned length) {
    char line[128] = "";
    FILE *file = fopen("/proc/driver/nvidia/gpu", "r");
    int ok = file && fscanf(file, "%d.%d %127[^\n]", major, minor, line) == 3;
    if (file)
        fclose(file);
    if (name)
        snprintf(name, length, "%s", line);
    return ok;
}
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count) {
    int major, minor;
    *count = (unsigned)gpu(&major, &minor, NULL, 0);
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = (void *)1;
    return index ? 2 : 0;
}
int nvmlDeviceGetName(void *device, char *name, unsigned length);
int nvmlDeviceGetName(void *device, char *name, unsigned length) {
    int major, minor;
    (void)device;
    return !gpu(&major, &minor, name, length);
}
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor);
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    (void)device;
    return !gpu(major, minor, NULL, 0);
}
#endif
