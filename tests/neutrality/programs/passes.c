/* SPDX-License-Identifier: Apache-2.0 */
/* A link of a chain: its function asks the next library that has one, and adds its own digit. */
#include <dlfcn.h>
#include <stddef.h>

long PASSES(void);
long PASSES(void) {
    long (*next)(void) = (long (*)(void))dlsym(RTLD_NEXT, STRING);
    return next ? next() * 10 + WHERE : WHERE;
}
