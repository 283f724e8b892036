/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Something on each channel: what the planted differences differ in (matrix/planted.py).
 */
#include "see.h"

size_t cudnnGetVersion(void);

int main(void) {
    see("calls", "%zu", cudnnGetVersion());
    void *found = see_sym(RTLD_DEFAULT, "cudnnGetVersion");
    see_address("cudnnGetVersion", found);
    see_target("cudnnGetVersion", found);
    see_open("libbeside.so", RTLD_LAZY | RTLD_NOLOAD);
    dlerror();
    void *beside = see_open("libbeside.so", RTLD_LAZY);
    if (beside)
        see_close("libbeside.so", beside);
    see_mapped("libbeside.so");
    see_open("./nowhere.so", RTLD_LAZY);
    return 0;
}
