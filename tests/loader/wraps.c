/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preload as others write them: C functions around the dl functions, which look up the next
 * ones. BY_VERSION: dlsym is found through dlvsym by its version, as HAMi-core does; an unversioned
 * one is passed over then. ITSELF: who asks for the driver gets this library, found by where dlopen
 * is, as Nsight Compute does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void *(*next_dlopen)(const char *, int);
static int (*next_dlclose)(void *);
static char *(*next_dlerror)(void);
static void *(*next_dlsym)(void *, const char *);

static void *next(const char *name) {
    return next_dlsym ? next_dlsym(RTLD_NEXT, name) : dlsym(RTLD_NEXT, name);
}

static void look_up_all(void) {
    if (next_dlopen)
        return;
#ifdef BY_VERSION
    next_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!next_dlsym)
        next_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
#endif
    next_dlclose = (int (*)(void *))next("dlclose");
    next_dlerror = (char *(*)(void))next("dlerror");
    next_dlopen = (void *(*)(const char *, int))next("dlopen");
}

__attribute__((constructor)) static void begin(void) {
    look_up_all();
}

#ifdef BY_VERSION
void *dlsym(void *handle, const char *name) {
    look_up_all();
    return next_dlsym(handle, name);
}
#endif

#ifdef ITSELF
long host_run(void) {
    return 42;
}
#endif

void *dlopen(const char *name, int flags) {
    look_up_all();
#ifdef ITSELF
    Dl_info own;
    if (name && !strcmp(name, "libcuda.so.1") && dladdr((void *)dlopen, &own))
        return next_dlopen(own.dli_fname, flags);
#endif
    return next_dlopen(name, flags);
}

int dlclose(void *handle) {
    look_up_all();
    return next_dlclose(handle);
}

char *dlerror(void) {
    look_up_all();
    return next_dlerror();
}
