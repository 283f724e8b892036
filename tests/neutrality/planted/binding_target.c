/* SPDX-License-Identifier: Apache-2.0 */
/* Gives its own function's address for one of cuDNN. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static size_t version(void) {
    return 90100;
}

void *dlsym(void *handle, const char *name) {
    if (!strcmp(name, "cudnnGetVersion"))
        return (void *)version;
    void *(*next)(void *, const char *) =
        (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    return next(handle, name);
}
