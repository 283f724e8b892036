/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in front of a function of cuDNN. */
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void) {
    void *handle = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_NOLOAD);
    return ((size_t(*)(void))dlsym(handle, "cudnnGetVersion"))();
}
