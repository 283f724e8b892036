/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to a host. */
#include "support.h"

long host_run(void);

int main(void) {
    printf("%ld\n", host_run());
    tell_counts(RTLD_DEFAULT);
    return 0;
}
