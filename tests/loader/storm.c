/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm THREADS CYCLES FILE [dlsym]: each thread opens the file (%d in its name: the thread's
 * number), calls its host_run and closes it, so many times. Where the function lies is computed
 * from the first load, unless dlsym is to be called each time.
 */
#include <link.h>
#include <string.h>

#include "support.h"

static const char *pattern;
static int cycles, by_dlsym;
static uintptr_t offset;
static atomic_ulong good;

static void name_of(long thread, char *to, size_t size) {
    const char *mark = strstr(pattern, "%d");
    if (mark)
        snprintf(to, size, "%.*s%ld%s", (int)(mark - pattern), pattern, thread, mark + 2);
    else
        snprintf(to, size, "%s", pattern);
}

static void *work(void *argument) {
    char name[256];
    name_of((long)argument, name, sizeof name);
    for (int i = 0; i < cycles; i++) {
        struct link_map *library = open_library(name);
        run_function *run = by_dlsym ? runner(library) : (run_function *)(library->l_addr + offset);
        good += run() == 90100;
        dlclose(library);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[64];
    char first[256];
    int count = argc > 3 ? atoi(argv[1]) : 0;
    if (count < 1 || count > 64)
        return 2;
    cycles = atoi(argv[2]);
    pattern = argv[3];
    by_dlsym = argc > 4;
    name_of(0, first, sizeof first);
    struct link_map *library = open_library(first);
    offset = (uintptr_t)runner(library) - library->l_addr;
    dlclose(library);
    for (long i = 0; i < count; i++)
        threads[i] = start(work, (void *)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%lu of %d\n", (unsigned long)good, count * cycles);
    tell_counts(RTLD_DEFAULT);
    return 0;
}
