/* SPDX-License-Identifier: Apache-2.0 */
/* uthash, with a function for its sum: its own is written out at each use. */
#ifndef WHICHCUDNN_TOOLS_UTIL_HASH_H
#define WHICHCUDNN_TOOLS_UTIL_HASH_H

#include <stddef.h>

#define HASH_FUNCTION(key, length, sum) ((sum) = hash_sum((key), (length)))
#include <uthash.h>

unsigned hash_sum(const void *key, size_t length);

#endif
