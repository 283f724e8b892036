/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one library ahead, so that RTLD_NOLOAD finds it. */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((constructor)) static void start(void) {
    if (!dlopen("planted/libbeside.so", RTLD_LAZY))
        fputs("planted library does not find its library\n", stderr);
}
