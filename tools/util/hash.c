/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

#include <string.h>

struct item {
    UT_hash_handle hh;
};

unsigned hash_sum(const void *key, size_t length) {
    unsigned sum;

    HASH_SFH(key, length, sum);
    return sum;
}

void *hash_find(const void *first, const void *key, size_t length) {
    const struct item *head = first;
    struct item *found;

    HASH_FIND(hh, head, key, length, found);
    return found;
}

void *hash_find_text(const void *first, const char *key) {
    return hash_find(first, key, strlen(key));
}

/* The pointer to the first is one to another struct: as bytes. */
static struct item *first_of(const void *table) {
    struct item *first;

    memcpy(&first, table, sizeof(first));
    return first;
}

static void begin_with(void *table, const struct item *first) {
    memcpy(table, &first, sizeof(first));
}

void hash_add(void *table, void *item, const void *key, size_t length) {
    struct item *first = first_of(table), *added = item;

    HASH_ADD_KEYPTR(hh, first, key, length, added);
    begin_with(table, first);
}

void hash_remove(void *table, void *item) {
    struct item *first = first_of(table), *removed = item;

    HASH_DEL(first, removed);
    begin_with(table, first);
}

void hash_clear(void *table) {
    struct item *first = first_of(table);

    HASH_CLEAR(hh, first);
    begin_with(table, first);
}
