/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a line to standard output. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((destructor)) static void end(void) {
    if (write(1, "planted\n", 8) != 8)
        abort();
}
