/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments [FILE]: arguments in registers, on the stack and in floating point registers, results
 * of each kind: through slots, or looked up in that file.
 */
#include <stdint.h>
#include <string.h>

#include "answers.h"
#include "see.h"

static void *from;

#define FIND(function)                                                                             \
    __typeof__(&function) its_##function =                                                         \
        from ? (__typeof__(&function))dlsym(from, #function) : &function
#define P(n) ((void *)(uintptr_t)(0x1111111111111111u * (n)))

static void convolution(void) {
    FIND(cudnnConvolutionForward);
    double alpha = 1.5;
    float beta = 0.25F;
    int status = its_cudnnConvolutionForward(P(1), &alpha, P(2), P(3), P(4), P(5), P(6), -7, P(8),
                                             SIZE_MAX - 9, &beta, P(10), P(11));
    see("returned", "%d", status);
}

static void normalization(void) {
    FIND(cudnnBatchNormalizationForwardTrainingEx);
    int status = its_cudnnBatchNormalizationForwardTrainingEx(
        P(1), -2, 3, P(4), P(5), P(6), P(7), P(8), P(9), P(10), P(11), P(12), P(13), P(14),
        0x1.8p-3, P(1), P(2), -0x1.23456789abcdep+100, P(3), P(4), P(5), P(6), 1, P(7), SIZE_MAX);
    see("returned", "%d", status);
}

static void algorithms(void) {
    FIND(cudnnGetConvolutionForwardAlgorithm_v7);
    int count = 0;
    int status =
        its_cudnnGetConvolutionForwardAlgorithm_v7(P(1), P(2), P(3), P(4), P(5), 6, &count, P(7));
    see("returned", "%d, count %d", status, count);
}

static void others(void) {
    FIND(cudnnGetVersion);
    FIND(cudnnGetCudartVersion);
    FIND(cudnnCreate);
    FIND(cudnnDestroy);
    FIND(cudnnGetProperty);
    FIND(cudnnGetErrorString);
    FIND(cudnnGetLastErrorString);
    void *handle = NULL;
    char message[40];
    int property = 0, status = its_cudnnGetProperty(1, &property);
    see("returned", "%zu %#zx", its_cudnnGetVersion(), its_cudnnGetCudartVersion());
    see("returned", "%d %d", status, property);
    status = its_cudnnCreate(&handle);
    see("returned", "%d %d", status, its_cudnnDestroy(handle));
    see("returned", "%s %s", its_cudnnGetErrorString(0), its_cudnnGetErrorString(1));
    its_cudnnGetLastErrorString(message, sizeof message);
    see("returned", "%s", message);
}

static void unwatched(void) {
    FIND(cudnnSumOf);
    FIND(cudnnPairOf);
    struct answers_many many = {{0, 0, 0, 0, 0, 0, 0, 40}};
    struct answers_pair p = its_cudnnPairOf((struct answers_pair){2, 1.25}, many, 4.0);
    see("returned", "%ld", its_cudnnSumOf(4, 1L, 2.0, 30L, 400.0));
    see("returned", "%ld %g", p.number, p.real);
}

int main(int argc, char **argv) {
    from = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    for (int i = 0; i < 2; i++) {
        convolution();
        normalization();
        algorithms();
        others();
        unwatched();
    }
    return argc > 1 && !from;
}
