/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pushed-out LOST LIBRARY N: asks for a library that cannot be loaded, lets another thread ask N
 * times for another one, and only then fetches the loader's words.
 */
#include "support.h"

struct others {
    const char *name;
    int count;
};

static void *ask(void *argument) {
    const struct others *o = argument;
    for (int i = 0; i < o->count; i++)
        open_library(o->name);
    return NULL;
}

int main(int argc, char **argv) {
    struct others others = {argv[2], atoi(argv[argc - 1])};
    void *library = dlopen(argv[1], RTLD_NOW);
    pthread_join(start(ask, &others), NULL);
    printf("%s\n", library ? "opened" : dlerror());
    return 0;
}
