/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What answers.c has. Functions of cuDNN with the prototypes of cudnn.h, but for the names of
 * types.
 */
#ifndef NEUTRALITY_ANSWERS_H
#define NEUTRALITY_ANSWERS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

size_t cudnnGetVersion(void);
size_t cudnnGetCudartVersion(void);
int cudnnCreate(void **handle);
int cudnnDestroy(void *handle);
int cudnnSetStream(void *handle, void *stream); /* never watched */
int cudnnOpsVersionCheck(void);
int cudnnCnnVersionCheck(void);
const char *cudnnGetErrorString(int status);
void cudnnGetLastErrorString(char *message, size_t room);
int cudnnGetProperty(int type, int *value);
int cudnnConvolutionForward(void *handle, const void *alpha, void *xDesc, const void *x,
                            void *wDesc, const void *w, void *convDesc, int algo, void *workSpace,
                            size_t workSpaceSizeInBytes, const void *beta, void *yDesc, void *y);
int cudnnBatchNormalizationForwardTrainingEx(
    void *handle, int mode, int bnOps, const void *alpha, const void *beta, void *xDesc,
    const void *xData, void *zDesc, const void *zData, void *yDesc, void *yData,
    void *bnScaleBiasMeanVarDesc, const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance, void *activationDesc,
    void *workspace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes);
int cudnnGetConvolutionForwardAlgorithm_v7(void *handle, void *srcDesc, void *filterDesc,
                                           void *convDesc, void *destDesc, int requestedAlgoCount,
                                           int *returnedAlgoCount, void *perfResults);

struct answers_pair {
    long number;
    double real;
};
struct answers_many {
    long number[8];
};
long cudnnSumOf(int n, ...);
struct answers_pair cudnnPairOf(struct answers_pair a, struct answers_many many, double factor);

/* Called within each call, with its name. */
extern void (*answers_inside)(const char *function);
/* What functions with a status return, and the errno that all leave (0: as it was). */
extern int answers_status, answers_errno;
extern const char answers_who[];

#ifdef __cplusplus
}
#endif

#endif
