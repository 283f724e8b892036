/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload FILE OTHER [threads]: opens the file, calls and closes it, puts the other in its place and
 * opens it again. With threads, one closes and another opens, and only then does any of them make
 * another dl* call. Says on stderr whether the second came to the first one's address.
 */
#include <link.h>
#include <string.h>

#include "support.h"

static const char *file;
static void *first, *second;

static void *close_first(void *argument) {
    dlclose(first);
    return argument;
}

static void *open_second(void *argument) {
    second = open_library(file);
    return argument;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    file = argv[1];
    void *(*const steps[])(void *) = {close_first, open_second};
    first = open_library(file);
    uintptr_t base = ((struct link_map *)first)->l_addr;
    uintptr_t offset = (uintptr_t)runner(first) - base;
    printf("%ld\n", runner(first)());
    for (int i = 0; i < 2; i++) {
        if (i == 1 && rename(argv[2], file) != 0)
            return 2;
        if (argc > 3)
            pthread_join(start(steps[i], NULL), NULL);
        else
            steps[i](NULL);
    }
    uintptr_t other = ((struct link_map *)second)->l_addr;
    run_function *run = argc > 3 ? (run_function *)(other + offset) : runner(second);
    printf("%ld\n", run());
    fprintf(stderr, "%s address\n", other == base ? "same" : "another");
    tell_counts(RTLD_DEFAULT);
    return 0;
}
