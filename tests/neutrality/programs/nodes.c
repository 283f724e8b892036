/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that wants functions of cuDNN by version nodes. BOTH: the same function by two.
 */
#include "see.h"

extern size_t cudnnGetVersion(void);
extern int cudnnCreate(void **handle);
#ifdef BOTH
extern size_t version_of_8(void);
__asm__(".symver version_of_8, cudnnGetVersion@libcudnn.so.8");
#endif

long host_run(void);
long host_run(void) {
    void *handle = NULL;
    see("calls", "%zu %d", cudnnGetVersion(), cudnnCreate(&handle));
#ifdef BOTH
    see("calls", "%zu", version_of_8());
#endif
    return 0;
}

#ifdef PROGRAM
int main(void) {
    return (int)host_run();
}
#endif
