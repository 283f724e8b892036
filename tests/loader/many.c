/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many hosts|names|functions|lookups N DIRECTORY: opens the cuDNN of DIRECTORY, and then does one
 * thing N times: opens DIRECTORY/hosts/0.so to N-1.so, asks for libraries or functions that are not
 * there, looks one function up.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *what, *directory;
static void *cudnn;

static int again(int i) {
    char name[4096];
    if (strcmp(what, "hosts") == 0) {
        snprintf(name, sizeof name, "%s/hosts/%d.so", directory, i);
        return dlopen(name, RTLD_LAZY) != NULL;
    }
    if (strcmp(what, "names") == 0) {
        snprintf(name, sizeof name, "/nowhere/cudnn-%d.so", i);
        return !dlopen(name, RTLD_LAZY) && dlerror();
    }
    if (strcmp(what, "functions") == 0) {
        snprintf(name, sizeof name, "cudnnMissing%d", i);
        return !dlsym(cudnn, name) && dlerror();
    }
    return dlsym(cudnn, "cudnnCreate") != NULL;
}

int main(int argc, char **argv) {
    char name[4096];
    int n = argc > 3 ? atoi(argv[2]) : 0;
    if (n < 1)
        return 2;
    what = argv[1];
    directory = argv[3];
    snprintf(name, sizeof name, "%s/libcudnn.so.9", directory);
    cudnn = dlopen(name, RTLD_LAZY);
    for (int i = 0; cudnn && i < n; i++)
        if (!again(i))
            return 1;
    return !cudnn;
}
