/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comes-and-goes N LIBRARY...: opens all but the last, and closes and opens them again in turns, N
 * times; then opens the last one.
 */
#include "support.h"

int main(int argc, char **argv) {
    void *open[64];
    int turns = atoi(argv[1]), n = argc - 3;
    if (n < 1 || n > 64)
        return 2;
    for (int i = 0; i < n; i++)
        open[i] = open_library(argv[i + 2]);
    for (int i = 0; i < turns; i++) {
        int which = i * 7 % n;
        dlclose(open[which]);
        open[which] = open_library(argv[which + 2]);
    }
    open_library(argv[argc - 1]);
    puts("opened");
    return 0;
}
