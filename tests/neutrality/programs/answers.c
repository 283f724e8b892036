/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cuDNN that says what arrived, and does within a call what the host wants.
 *   NUMBER     what cudnnGetVersion says         WHO        what it calls itself
 *   INDIRECT   cudnnGetVersion is an IFUNC       WITHOUT    cudnnOpsVersionCheck is missing
 *   PROTECTED  its functions have protected visibility
 *   NODES      cudnnGetVersion is there twice, under two version nodes
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#include "answers.h"
#include "see.h"

#ifndef NUMBER
#define NUMBER 90100
#endif
#ifndef WHO
#define WHO "answers"
#endif
#ifdef PROTECTED
#pragma GCC visibility push(protected)
#endif

void (*answers_inside)(const char *function);
int answers_status, answers_errno;
const char answers_who[] = WHO;

static int enter(const char *function) {
    if (answers_inside)
        answers_inside(function);
    if (answers_errno)
        errno = answers_errno;
    return answers_status;
}

#ifdef NODES
size_t version_8(void);
size_t version_8(void) {
    return 8907;
}
size_t version_9(void);
size_t version_9(void) {
    return NUMBER;
}
__asm__(".symver version_8, cudnnGetVersion@libcudnn.so.8");
__asm__(".symver version_9, cudnnGetVersion@@libcudnn.so.9");
#elif defined(INDIRECT)
static size_t version(void) {
    return NUMBER;
}
static size_t (*choose(void))(void) {
    return version;
}
size_t cudnnGetVersion(void) __attribute__((ifunc("choose")));
#else
size_t cudnnGetVersion(void) {
    enter("cudnnGetVersion");
    return NUMBER;
}
#endif

size_t cudnnGetCudartVersion(void) {
    enter("cudnnGetCudartVersion");
    return 0x123456789abcdef0; /* all of the register arrives */
}

int cudnnCreate(void **handle) {
    int status = enter("cudnnCreate");
    if (status == 0 && handle)
        *handle = (void *)answers_who;
    return status;
}

int cudnnDestroy(void *handle) {
    return handle == answers_who ? 0 : 1;
}

int cudnnSetStream(void *handle, void *stream) {
    return handle == answers_who && !stream ? 0 : 1;
}

#ifndef WITHOUT
int cudnnOpsVersionCheck(void) {
    return enter("cudnnOpsVersionCheck");
}
#endif

/* Calls others of its own functions, through its own slots. */
int cudnnCnnVersionCheck(void) {
    void *handle = NULL;
    int status = enter("cudnnCnnVersionCheck");
    if (cudnnCreate(&handle) != status || cudnnGetCudartVersion() != 0x123456789abcdef0)
        return 1;
    return status + (cudnnGetVersion() == NUMBER ? 0 : 2);
}

static char text[] = "CUDNN_STATUS_SOMETHING";
const char *cudnnGetErrorString(int status) {
    enter("cudnnGetErrorString");
    return status == 0 ? answers_who : text;
}

void cudnnGetLastErrorString(char *message, size_t room) {
    enter("cudnnGetLastErrorString");
    snprintf(message, room, "%zu bytes of room", room);
}

int cudnnGetProperty(int type, int *value) {
    *value = type == 0 ? NUMBER / 10000 : -type;
    return enter("cudnnGetProperty");
}

/* Aligned as the ABI demands? An instruction that needs it would crash. */
static int is_aligned(void) {
    __attribute__((aligned(16))) volatile char on_stack[16] = {0};
    return ((size_t)on_stack & 15) == 0;
}

int cudnnConvolutionForward(void *handle, const void *alpha, void *xDesc, const void *x,
                            void *wDesc, const void *w, void *convDesc, int algo, void *workSpace,
                            size_t workSpaceSizeInBytes, const void *beta, void *yDesc, void *y) {
    see("arrived", "%p %g %p %p %p %p %p %d %p %#zx %g %p %p%s", handle, *(const double *)alpha,
        xDesc, x, wDesc, w, convDesc, algo, workSpace, workSpaceSizeInBytes, *(const float *)beta,
        yDesc, y, is_aligned() ? "" : ", misaligned");
    return enter("cudnnConvolutionForward");
}

int cudnnBatchNormalizationForwardTrainingEx(
    void *handle, int mode, int bnOps, const void *alpha, const void *beta, void *xDesc,
    const void *xData, void *zDesc, const void *zData, void *yDesc, void *yData,
    void *bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance, void *activationDesc,
    void *workspace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes) {
    see("arrived", "%p %d %d %p %p %p %p %p %p %p %p %p %p %p", handle, mode, bnOps, alpha, beta,
        xDesc, xData, zDesc, zData, yDesc, yData, bnScaleBiasMeanVarDesc, bnScale, bnBias);
    see("arrived", "%a %p %p %a %p %p %p %p %#zx %p %#zx%s", exponentialAverageFactor,
        resultRunningMean, resultRunningVariance, epsilon, resultSaveMean, resultSaveInvVariance,
        activationDesc, workspace, workSpaceSizeInBytes, reserveSpace, reserveSpaceSizeInBytes,
        is_aligned() ? "" : ", misaligned");
    return enter("cudnnBatchNormalizationForwardTrainingEx");
}

int cudnnGetConvolutionForwardAlgorithm_v7(void *handle, void *srcDesc, void *filterDesc,
                                           void *convDesc, void *destDesc, int requestedAlgoCount,
                                           int *returnedAlgoCount, void *perfResults) {
    see("arrived", "%p %p %p %p %p %d %p", handle, srcDesc, filterDesc, convDesc, destDesc,
        requestedAlgoCount, perfResults);
    *returnedAlgoCount = requestedAlgoCount;
    return enter("cudnnGetConvolutionForwardAlgorithm_v7");
}

/* ---- in no cuDNN, and so watched by nobody ---- */

long cudnnSumOf(int n, ...) {
    va_list values;
    long sum = 0;
    va_start(values, n);
    for (int i = 0; i < n; i++)
        sum += i % 2 ? (long)va_arg(values, double) : va_arg(values, long);
    va_end(values);
    return sum;
}

struct answers_pair cudnnPairOf(struct answers_pair a, struct answers_many many, double factor) {
    return (struct answers_pair){a.number + many.number[7], a.real * factor};
}
