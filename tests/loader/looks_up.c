/* SPDX-License-Identifier: Apache-2.0 */
/* looks_up FILE [dlvsym]: opens cuDNN, looks its functions up and calls them, as JAX and ctypes do.
 */
#include "support.h"

int main(int argc, char **argv) {
    void *handle = NULL, *library = argc > 1 ? open_library(argv[1]) : NULL;
    if (!library)
        return 2;
    void *found =
        argc > 2 ? dlvsym(library, "cudnnCreate", "libcudnn.so.9") : dlsym(library, "cudnnCreate");
    int (*create)(void **) = (int (*)(void **))need(found, "cudnnCreate");
    size_t (*version)(void) = (size_t(*)(void))need(dlsym(library, "cudnnGetVersion"), "version");
    printf("%d %zu\n", create(&handle), version());
    printf("%s\n", dlsym(library, "cudnnNowhere") ? "found" : dlerror());
    tell_counts(library);
    return 0;
}
