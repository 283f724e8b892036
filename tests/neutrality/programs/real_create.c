/* SPDX-License-Identifier: Apache-2.0 */
/* real_create [FILE]: what a real cuDNN says, called through slots or looked up in that file. */
#include <stdlib.h>

#include "see.h"

extern size_t cudnnGetVersion(void);
extern size_t cudnnGetCudartVersion(void);
extern int cudnnCreate(void **handle);
extern const char *cudnnGetErrorString(int status);

static void *from;

#define FIND(function)                                                                             \
    __typeof__(&function) its_##function =                                                         \
        from ? (__typeof__(&function))dlsym(from, #function) : &function

int main(int argc, char **argv) {
    from = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (argc > 1 && !from)
        return 1;
    FIND(cudnnGetVersion);
    FIND(cudnnGetCudartVersion);
    FIND(cudnnCreate);
    FIND(cudnnGetErrorString);
    for (int i = 0; i < 2; i++) {
        void *handle = NULL;
        see("version", "%zu, runtime %zu", its_cudnnGetVersion(),
            its_cudnnGetCudartVersion() / 1000);
        int status = its_cudnnCreate(&handle);
        see("create", "%s, handle %s", its_cudnnGetErrorString(status),
            (status == 0) == (handle != NULL) ? "as it says" : "against it");
        see("text", "%s", its_cudnnGetErrorString(0));
    }
    return 0;
}
