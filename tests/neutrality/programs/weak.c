/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak references to functions of cuDNN: a library (LIBRARY: host_run) or a program. Called where
 * they lead somewhere.
 */
#include "see.h"

extern size_t cudnnGetVersion(void) __attribute__((weak));
extern int cudnnOpsVersionCheck(void) __attribute__((weak));
extern int cudnnCreate(void **handle) __attribute__((weak));
extern int cudnnNoSuchFunction(void) __attribute__((weak));

/* Undefined weak ones in a table stay NULL, too. */
static int (*const table[])(void) = {cudnnOpsVersionCheck, cudnnNoSuchFunction};

long host_run(void);
long host_run(void) {
    see("weak", "%s %s %s %s", cudnnGetVersion ? "there" : "missing",
        cudnnOpsVersionCheck ? "there" : "missing", cudnnCreate ? "there" : "missing",
        cudnnNoSuchFunction ? "there" : "missing");
    see("table", "%s %s", table[0] ? "there" : "missing", table[1] ? "there" : "missing");
    if (cudnnGetVersion)
        see("calls", "%zu", cudnnGetVersion());
    see("default", "%s %s", dlsym(RTLD_DEFAULT, "cudnnGetVersion") ? "there" : "missing",
        dlsym(RTLD_DEFAULT, "cudnnNoSuchFunction") ? "there" : "missing");
    return 0;
}

#ifndef LIBRARY
int main(int argc, char **argv) {
    host_run();
    for (int i = 1; i < argc; i++)
        see_open(argv[i], RTLD_NOW | RTLD_GLOBAL);
    if (argc > 1)
        host_run();
    return 0;
}
#endif
