/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the program linked with libdl? Some ask so by weak references; before glibc 2.34 they are NULL
 * where it is not. What they lead to is called here. Then libdl comes, as it comes with a plugin of
 * libc, and cuDNN by way of it.
 */
#include <stdio.h>
#include <string.h>

extern void *dlopen(const char *name, int mode) __attribute__((weak));
extern void *dlsym(void *handle, const char *name) __attribute__((weak));
extern int dlclose(void *handle) __attribute__((weak));
extern void *__libc_dlopen_mode(const char *name, int mode) __attribute__((weak));

static void ask(void) {
    printf("dlopen %s, dlsym %s, dlclose %s\n", dlopen ? "there" : "missing",
           dlsym ? "there" : "missing", dlclose ? "there" : "missing");
    void *library = dlopen ? dlopen("./libcudnn.so.9", 2) : NULL, *found = NULL;
    size_t (*version)(void) = NULL;
    if (dlsym && library)
        found = dlsym(library, "cudnnGetVersion");
    memcpy(&version, &found, sizeof version);
    printf("cuDNN %zu\n", version ? version() : 0);
    if (dlclose && library)
        dlclose(library);
}

int main(void) {
    ask();
    printf("libdl %s\n", __libc_dlopen_mode && __libc_dlopen_mode("libdl.so.2", 2) ? "came" : "-");
    ask();
    return 7;
}
