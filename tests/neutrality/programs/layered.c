/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs as TensorFlow has them: the library (or program: PROGRAM) defines functions of cuDNN
 * itself, and each looks the real one up when it is first called. What is inside calls the stubs.
 */
#include "see.h"

static void *find(const char *function) {
    static void *library;
    if (!library)
        library = dlopen("libcudnn.so.9", RTLD_LAZY);
    return library ? dlsym(library, function) : NULL;
}

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void) {
    static size_t (*it)(void);
    if (!it)
        it = (size_t(*)(void))find("cudnnGetVersion");
    return it ? it() : 0;
}

int cudnnCreate(void **handle);
int cudnnCreate(void **handle) {
    static int (*it)(void **);
    if (!it)
        it = (int (*)(void **))find("cudnnCreate");
    return it ? it(handle) : 9999;
}

int cudnnOpsVersionCheck(void) __attribute__((weak));

static size_t (*const table[])(void) = {cudnnGetVersion};

long host_run(void);
long host_run(void) {
    void *handle = NULL;
    size_t version = cudnnGetVersion();
    int status = cudnnCreate(&handle);
    see("calls", "%zu %d %zu, weak one %s", version, status, table[0](),
        cudnnOpsVersionCheck ? "there" : "missing");
    see_address("own", (const void *)cudnnGetVersion);
    see_target("default", dlsym(RTLD_DEFAULT, "cudnnGetVersion"));
    return 0;
}

#ifdef PROGRAM
int main(void) {
    host_run();
    return (int)host_run();
}
#endif
