/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that calls cuDNN.
 *   CALLS_AT_START  also in its constructor
 *   SLOW            relocating it takes a while, when its cuDNN slots are bound already: they are
 *                   GLOB_DAT, which come first; slow_function has a jump slot and a slow resolver
 *   TAKES_ADDRESS   and tells where it thinks that cudnnCreate is
 *   WRITES          relocated data are written to
 *   CHECKS          calls that function alone: two such hosts are alike in everything but a name
 */
#include <stddef.h>

#if defined(SLOW) || defined(WRITES)
#define CUDNN extern __attribute__((noplt))
#else
#define CUDNN extern
#endif
#ifdef SLOW
int slow_function(void);
#endif
CUDNN size_t cudnnGetVersion(void);
CUDNN size_t cudnnGetCudartVersion(void);
CUDNN int cudnnOpsVersionCheck(void);
CUDNN int cudnnCnnVersionCheck(void);
CUDNN int cudnnCreate(void **handle);

#ifdef TAKES_ADDRESS
void *host_address(void);
void *host_address(void) {
    return (void *)cudnnCreate;
}
#endif

#ifdef WRITES
static volatile long written __attribute__((section(".data.rel.ro"))) = 1;
#endif

#ifdef CALLS_AT_START
static size_t at_start;
__attribute__((constructor)) static void begin(void) {
    at_start = cudnnGetCudartVersion();
}
#endif

/* What cudnnGetVersion says; below 0 where anything is wrong. */
long host_run(void);
long host_run(void) {
    void *handle = NULL;
#ifdef CALLS_AT_START
    if (at_start != 12040)
        return -1;
#endif
#ifdef SLOW
    if (slow_function() != 7)
        return -2;
#endif
#ifdef WRITES
    written++;
#endif
#ifdef CHECKS
    (void)handle;
    return 1000 + CHECKS();
#else
    if (cudnnCreate(&handle) != 0 || !handle)
        return -3;
    return (long)cudnnGetVersion();
#endif
}
