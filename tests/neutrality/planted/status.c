/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process with another status. */
#include <unistd.h>

__attribute__((destructor)) static void end(void) {
    _exit(77);
}
