/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errno around calls of cuDNN: what the host had stays, what cuDNN sets arrives; in first calls, in
 * later ones and in those that fail.
 */
#include "answers.h"
#include "see.h"

static void call_all(void) {
    void *handle = NULL;
    int values[5], property;
    errno = 77;
    int status = cudnnCreate(&handle);
    values[0] = errno;
    errno = 77;
    cudnnGetVersion();
    values[1] = errno;
    errno = 77;
    cudnnGetProperty(0, &property);
    values[2] = errno;
    errno = 77;
    cudnnGetErrorString(0);
    values[3] = errno;
    errno = 77;
    cudnnOpsVersionCheck();
    values[4] = errno;
    see("errno", "%d %d %d %d %d, status %d", values[0], values[1], values[2], values[3], values[4],
        status);
}

int main(void) {
    static const int given[] = {0, 0, 5, 5, 0};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
            answers_errno = given[k];
            answers_status = i ? 1001 + (int)k : 0;
            call_all();
        }
    return 0;
}
