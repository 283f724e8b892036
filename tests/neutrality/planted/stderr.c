/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a line to standard error. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((destructor)) static void end(void) {
    if (write(2, "planted\n", 8) != 8)
        abort();
}
