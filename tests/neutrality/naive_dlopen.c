/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shim must not be: a dlopen in C, which the loader takes for the caller. RPATH, RUNPATH
 * and $ORIGIN of the real caller are lost, so parts come from wherever the loader looks next. Kept
 * so that the tests of this folder show, in every run, that they notice.
 */
#include <dlfcn.h>

void *dlopen(const char *name, int flags) {
    static void *(*next)(const char *, int);
    if (!next)
        next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *handle = next(name, flags);
    __asm__ volatile("" ::: "memory"); /* a compiler would make a jump of it, by luck */
    return handle;
}
