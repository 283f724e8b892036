/* SPDX-License-Identifier: Apache-2.0 */
/* A libcudnn.so.9 whose functions do nothing: what is left is the way there. */
#include <stddef.h>

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void) {
    return 90100;
}

int cudnnBackendExecute(void *handle, void *plan, void *pack);
int cudnnBackendExecute(void *handle, void *plan, void *pack) {
    (void)handle, (void)plan, (void)pack;
    return 0;
}

int cudnnConvolutionForward(void *handle, const void *alpha, void *xd, const void *x, void *wd,
                            const void *w, void *convd, int algo, void *space, size_t bytes,
                            const void *beta, void *yd, void *y);
int cudnnConvolutionForward(void *handle, const void *alpha, void *xd, const void *x, void *wd,
                            const void *w, void *convd, int algo, void *space, size_t bytes,
                            const void *beta, void *yd, void *y) {
    (void)handle, (void)alpha, (void)xd, (void)x, (void)wd, (void)w, (void)convd, (void)algo;
    (void)space, (void)bytes, (void)beta, (void)yd, (void)y;
    return 0;
}
