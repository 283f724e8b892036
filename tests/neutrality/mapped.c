/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that maps parts of cuDNN: opens what its first argument names, calls the functions that
 * the others name (all take one pointer at most) and prints what they returned, then each mapped
 * file.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void call(void *library, const char *name) {
    static void *results[8];
    long (*function)(void *) = (long (*)(void *))dlsym(library, name);
    if (!function) {
        printf("%s: %s\n", name, dlerror());
        return;
    }
    printf("%s: %ld\n", name, function(results));
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_mapped(void) {
    static char *files[1024];
    static char line[8192];
    size_t n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');
        if (path && n < sizeof files / sizeof *files)
            files[n++] = strdup(path);
    }
    qsort(files, n, sizeof *files, by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(files[i], files[i - 1]) != 0)
            printf("mapped %s", files[i]);
}

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        printf("%s\n", argc > 1 ? dlerror() : "usage: mapped LIBRARY FUNCTION...");
        return 1;
    }
    for (int i = 2; i < argc; i++)
        call(library, argv[i]);
    print_mapped();
    return 0;
}
