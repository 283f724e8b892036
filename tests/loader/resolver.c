/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A start-up library with an indirect function whose resolver calls dlsym, at a time when the
 * preloaded library is not relocated yet. With ASKS_MORE it calls dladdr and dlerror, too.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static const char *found = "nothing";

static int process(void) {
    return getpid() > 0;
}

static int (*choose(void))(void) {
    Dl_info info = {0};
    if (dlsym(RTLD_DEFAULT, "getpid"))
        found = "getpid";
#ifdef ASKS_MORE
    if (!dladdr((void *)process, &info) || !info.dli_fname || dlerror())
        found = "no address";
#endif
    (void)info;
    return process;
}

/* Hidden, not static: clang exports a static one, which is resolved at its first call then. */
__attribute__((visibility("hidden"), ifunc("choose"))) int chosen(void);

long starter_run(void);
long starter_run(void) {
    puts(found);
    return chosen();
}
