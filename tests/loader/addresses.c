/* SPDX-License-Identifier: Apache-2.0 */
/* Two libraries and the program ask where cudnnCreate is. */
#include "support.h"

extern int cudnnCreate(void **handle);

static void emit(const char *file) {
    void *library = open_library(file);
    void *(*address)(void) = (void *(*)(void))need(dlsym(library, "host_address"), file);
    void *found = dlsym(RTLD_DEFAULT, "cudnnCreate");
    printf("%s: %s\n", file, address() == found ? "same" : "another");
    printf("%ld\n", runner(library)());
    printf("%s: %s\n", file, address() == found ? "same" : "another");
}

int main(void) {
    emit("./host-gold.so");
    return 0;
}
