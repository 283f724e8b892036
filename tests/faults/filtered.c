/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filtered WHAT COMMAND...: runs it with a filter on the system calls of the whole process, from
 * its start on (refuse.h says what WHAT may be).
 */
#include "refuse.h"

#include <stdio.h>

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    refuse_everywhere(argv[1]);
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
