/* SPDX-License-Identifier: Apache-2.0 */
/* looks_up FILE [dlvsym|generated]: opens cuDNN, looks its functions up and calls them, as JAX and
 * ctypes do. generated: the first one by code that lies in no object, as a compiler at run time
 * makes it.
 */
#include <string.h>
#include <sys/mman.h>

#include "support.h"

/* Calls a function, the address of which stands behind it or in it. */
static void *(*generate_call(void *(*function)(void *, const char *)))(void *, const char *) {
#ifdef __x86_64__
    enum { ADDRESS = 6 };
    static const unsigned char code[] = {0x48, 0x83, 0xec, 8,    0x48, 0xb8, [14] = 0xff,
                                         0xd0, 0x48, 0x83, 0xc4, 8,    0xc3};
#else
    enum { ADDRESS = 24 };
    static const unsigned code[8] = {0xa9bf7bfd, 0x580000b0, 0xd63f0200, 0xa8c17bfd, 0xd65f03c0};
#endif
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    memcpy(p, code, sizeof code);
    memcpy(p + ADDRESS, &function, sizeof function);
    __builtin___clear_cache(p, p + 4096);
    if (mprotect(p, 4096, PROT_READ | PROT_EXEC) != 0)
        abort();
    return (void *(*)(void *, const char *))p;
}

int main(int argc, char **argv) {
    void *handle = NULL, *library = argc > 1 ? open_library(argv[1]) : NULL;
    if (!library)
        return 2;
    void *found;
    if (argc < 3)
        found = dlsym(library, "cudnnCreate");
    else if (!strcmp(argv[2], "generated"))
        found = generate_call(dlsym)(library, "cudnnCreate");
    else
        found = dlvsym(library, "cudnnCreate", "libcudnn.so.9");
    int (*create)(void **) = (int (*)(void **))need(found, "cudnnCreate");
    size_t (*version)(void) = (size_t(*)(void))need(dlsym(library, "cudnnGetVersion"), "version");
    printf("%d %zu\n", create(&handle), version());
    printf("%s\n", dlsym(library, "cudnnNowhere") ? "found" : dlerror());
    tell_counts(library);
    return 0;
}
