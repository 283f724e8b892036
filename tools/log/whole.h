/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as they were before their lines were made short (docs/log.md).
 */
#pragma once

#include "whichcudnn/record.h"

/* Of the record's fields those were read whose bits, in the order of record.def, are in `there`:
 * all others are unknown, and get their usual values. */
void record_complete(struct wc_record *r, uint64_t there);
