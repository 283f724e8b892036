/* SPDX-License-Identifier: Apache-2.0 */
/* dlcalls open|look-up N: dlopen(NULL) and dlclose, or dlsym, N times. */
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[2]) : 0;
    void *self = dlopen(NULL, RTLD_NOW);
    for (; n > 0; n--)
        if (argv[1][0] == 'o')
            dlclose(dlopen(NULL, RTLD_NOW));
        else if (!dlsym(self, "malloc"))
            return 1;
    return 0;
}
