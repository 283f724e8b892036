/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as they were before their lines were made short (docs/log.md).
 */
#pragma once

#include "core/model/told.h"
#include "tools/util/memory.h"

/* What the records of a process said, by which those after them are written. All zero: none yet. */
struct earlier {
    int64_t pid, time; /* of the last one; pid 0: there is none */
    struct earlier_path {
        int64_t seq; /* ascending */
        const char *text;
    } * p;
    size_t n;
    struct heap_arena texts; /* begun with the first */
};
void earlier_note(struct earlier *earlier, const struct wc_record *r);
void earlier_end(struct earlier *earlier);

/* Of the record's fields those were read whose bits, in the order of record.def, are in `there`:
 * all others are unknown, and get their usual values. pid, tid and time are WC_NULL where they were
 * not there. earlier NULL: nothing. NULL, or the name of a key that cannot be left out. */
const char *record_complete(struct wc_record *r, uint64_t there, const struct earlier *earlier,
                            struct wc_arena *arena);
