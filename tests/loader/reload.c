/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload FILE OTHER [threads|asks|after HOST]: opens the file, calls and closes it, puts the other
 * in its place and opens it again. With threads, one closes and another opens, and only then does
 * any of them make another dl* call; with asks, the one that opened does; after HOST, which comes
 * and goes while the file is open, that is not called. Says on stderr whether the second came to
 * the first one's address; with COUNTS, whether its link map took the place of the first one's.
 */
#include <link.h>
#include <string.h>

#include "support.h"

static const char *file;
static void *first, *second;
static int asks;

static void *open_it(void) {
    void *library = open_library(file);
    if (asks)
        runner(library);
    return library;
}

static void *close_first(void *argument) {
    dlclose(first);
    return argument;
}

static void *open_second(void *argument) {
    second = open_it();
    return argument;
}

static void *open_first(void *argument) {
    first = open_it();
    return argument;
}

static void step(void *(*what)(void *), int by_thread) {
    if (by_thread)
        pthread_join(start(what, NULL), NULL);
    else
        what(NULL);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    file = argv[1];
    setvbuf(stdout, NULL, _IONBF, 0); /* no buffer of it takes the place of a link map */
    int threads = argc == 4;
    asks = threads && !strcmp(argv[3], "asks");
    step(open_first, threads);
    if (threads) { /* what is allocated once is there now */
        step(close_first, threads);
        step(open_first, threads);
    }
    uintptr_t base = ((struct link_map *)first)->l_addr;
    uintptr_t offset = (uintptr_t)runner(first) - base;
    if (argc > 4) {
        void *host = open_library(argv[4]);
        runner(host);
        dlclose(host);
        runner(first);
    } else {
        printf("%ld\n", runner(first)());
    }
    step(close_first, threads);
    if (rename(argv[2], file) != 0)
        return 2;
    step(open_second, threads);
    uintptr_t other = ((struct link_map *)second)->l_addr;
    run_function *run = threads ? (run_function *)(other + offset) : runner(second);
    printf("%ld\n", run());
    fprintf(stderr, "%s address\n", other == base ? "same" : "another");
    if (getenv("COUNTS"))
        fprintf(stderr, "%s map\n", second == first ? "same" : "another");
    tell_counts(RTLD_DEFAULT);
    return 0;
}
