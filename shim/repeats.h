/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts how often each request and each failure was recorded: a host may repeat them for ever. The
 * shim's lock is held in all functions.
 */
#pragma once

#include "whichcudnn/record.h"

#define REPEATS_RECORDED 16

uint64_t repeats_hash(enum wc_operation operation, const char *name, int flags,
                      int64_t caller_object);
bool repeats_knows(uint64_t what); /* it was recorded before */
/* Is this record to be left out, because it was written REPEATS_RECORDED times, or there is no room
 * to count it? Counts it as left out, or as written again. matters: it has to do with cuDNN or
 * CUDA, and some room is reserved for it, as a host may request thousands of other names. */
bool repeats_leave_out(enum wc_kind kind, uint64_t what, bool matters);
