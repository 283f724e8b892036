/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uthash as functions: its macros are written out at each use. A struct that is in a table begins
 * with `UT_hash_handle hh`, whose `next` points to the element that was added after it. A table is
 * a pointer to the first, NULL while empty.
 */
#pragma once

#include <stddef.h>

unsigned hash_sum(const void *key, size_t length);
#define HASH_FUNCTION(key, length, sum) ((sum) = hash_sum((key), (length)))
#include <uthash.h>

/* NULL: there is none. */
void *hash_find(const void *first, const void *key, size_t length);
void *hash_find_text(const void *first, const char *key);

/* table: the address of the pointer to the first. The key stays the caller's, and where it is. */
void hash_add(void *table, void *item, const void *key, size_t length);
void hash_remove(void *table, void *item); /* does not free it */
void hash_clear(void *table);              /* nor here */
