/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library (RESOLVER): an indirect function whose resolver leaves dlsym by longjmp. The program
 * lets it do so, and opens a host afterwards.
 */
#include <setjmp.h>

#include "support.h"

#ifdef RESOLVER
jmp_buf *jump_to;

static void (*choose(void))(void) {
    longjmp(*jump_to, 1);
}

void cudnnJumps(void) __attribute__((ifunc("choose")));
#else
static jmp_buf back;

int main(int argc, char **argv) {
    void *library = open_library("./libjumps.so");
    *(jmp_buf **)need(dlsym(library, "jump_to"), "jump_to") = &back;
    for (volatile int i = 0; i < 3; i++)
        if (!setjmp(back))
            printf("found %d\n", dlsym(library, "cudnnJumps") != NULL);
        else
            puts("jumped");
    void *host = open_library(argc > 1 ? argv[1] : "./host-now.so");
    printf("%ld\n", runner(host)());
    tell_counts(RTLD_DEFAULT);
    return 0;
}
#endif
