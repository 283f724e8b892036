/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves another errno behind dlclose. */
#include <dlfcn.h>
#include <errno.h>

int dlclose(void *handle) {
    int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int result = next(handle);
    errno = ESTALE;
    return result;
}
