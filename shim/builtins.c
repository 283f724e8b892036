/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compiler itself emits calls to. Hidden, so that neither side of the process sees the
 * other's: a preloaded libasan would otherwise get our copies of structs.
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
