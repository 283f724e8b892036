/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to starter.c. */
#include "support.h"

long starter_run(void);

int main(void) {
    printf("%ld\n", starter_run());
    tell_counts(RTLD_DEFAULT);
    return 0;
}
