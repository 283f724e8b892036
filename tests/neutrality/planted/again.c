/* SPDX-License-Identifier: Apache-2.0 */
/* Looks each function up a second time. */
#include <dlfcn.h>
#include <stddef.h>

void *dlsym(void *handle, const char *name) {
    void *(*next)(void *, const char *) =
        (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    next(dlopen(NULL, RTLD_LAZY), name);
    return next(handle, name);
}
