/* SPDX-License-Identifier: Apache-2.0 */
#include "objects.h"

struct object *objects_table[OBJECTS_MOST];
size_t objects_count;

struct object *objects_at(uintptr_t address) {
    size_t n = __atomic_load_n(&objects_count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < n; i++) {
        struct object *o = objects_table[i];
        if (o->mapped && address - o->low < o->high - o->low)
            return o;
    }
    return NULL;
}
