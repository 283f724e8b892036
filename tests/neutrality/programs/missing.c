/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked to a cuDNN with cudnnOpsVersionCheck, run with one that lacks it. As a library: LIBRARY.
 *   (program) missing [FILE]: calls it, or opens that library, lazily and then at once
 */
#include "see.h"

extern size_t cudnnGetVersion(void);
extern int cudnnOpsVersionCheck(void);

long host_run(void);
long host_run(void) {
    see("calls", "%zu", cudnnGetVersion());
    see("calls", "%d", cudnnOpsVersionCheck());
    return 0;
}

#ifndef LIBRARY
int main(void) {
    host_run();
    return 0;
}
#endif
