/* SPDX-License-Identifier: Apache-2.0 */
/* titled HOST: writes a title over its environment, as daemons do, and then opens and calls the
 * host. */
#include <string.h>

#include "support.h"

extern char **environ;

int main(int argc, char **argv) {
    for (char **e = environ; *e; e++)
        memset(*e, 't', strlen(*e));
    void *library = open_library(argv[argc - 1]);
    printf("%ld\n", runner(library)());
    return 0;
}
