/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

unsigned hash_sum(const void *key, size_t length) {
    unsigned sum;

    HASH_JEN(key, length, sum);
    return sum;
}
