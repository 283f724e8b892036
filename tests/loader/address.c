/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is not position independent and takes cudnnCreate's address, linked to a library
 * that does so, too: for both it is an entry of the program's PLT.
 */
#include "support.h"

extern int cudnnCreate(void **handle);
long host_run(void);
void *host_address(void);

static int (*const mine)(void **) = cudnnCreate;

int main(void) {
    void *handle = NULL;
    int (*volatile through)(void **) = mine;
    printf("%s, %d, %ld\n", (void *)through == host_address() ? "same" : "another",
           through(&handle), host_run());
    tell_counts(RTLD_DEFAULT);
    return 0;
}
