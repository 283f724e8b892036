/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by what was never written. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void) {
    volatile char *memory = malloc(16);
    if (memory && memory[3] == 'p')
        (void)!write(-1, "", 1);
    free((void *)memory);
}
