/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the compiler itself emits calls to. They are hidden: the shim must not call a
 * preloaded libasan's, and the host must not call ours.
 */
#include "core/base/base.h"

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

void *memcpy(void *to, const void *from, size_t n) {
    wc_mem_copy(to, from, n);
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    wc_mem_move(to, from, n);
    return to;
}

void *memset(void *to, int byte, size_t n) {
    wc_mem_set(to, byte, n);
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    return wc_mem_compare(a, b, n);
}
