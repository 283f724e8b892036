/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offered FILE: opens the cuDNN that it is offered, asks for its version and creates a handle; each
 * step is told as soon as it is done. Compiled with LINKED it is linked to cuDNN instead.
 */
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
extern size_t cudnnGetVersion(void);
extern int cudnnCreate(void **handle);
#endif

int main(int argc, char **argv) {
    void *handle = NULL;
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("started");
#ifdef LINKED
    (void)argc, (void)argv;
    size_t (*version)(void) = cudnnGetVersion;
    int (*create)(void **) = cudnnCreate;
#else
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        puts(dlerror());
        return 1;
    }
    puts("opened");
    size_t (*version)(void) = (size_t(*)(void))dlsym(library, "cudnnGetVersion");
    if (!version) {
        puts(dlerror());
        return 1;
    }
    int (*create)(void **) = (int (*)(void **))dlsym(library, "cudnnCreate");
    if (!create) {
        puts(dlerror());
        return 1;
    }
#endif
    printf("version %zu\n", version());
    printf("create %d\n", create(&handle));
    return 0;
}
