/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mistake of each kind, chosen by the argument, on memory that no compiler sees through: a
 * sanitizer that says nothing here says nothing anywhere.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void *add(void *arg) {
    for (int i = 0; i < 1000; i++)
        shared++;
    return arg;
}

static int race(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, add, NULL) != 0)
        return 2;
    add(NULL);
    return pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    volatile size_t n = strlen(kind);
    volatile char *p = malloc(n);
    if (!p)
        return 2;
    if (strcmp(kind, "overflow") == 0)
        p[n] = 1;
    else if (strcmp(kind, "unwritten") == 0)
        return p[n - 1] ? 0 : 3;
    else if (strcmp(kind, "undefined") == 0)
        return 1 << (n + 40) ? 0 : 3;
    else if (strcmp(kind, "race") == 0)
        return race();
    free((void *)p);
    return 0;
}
