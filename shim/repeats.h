/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host may ask for ever, in vain or not: how often each question and each failure was told. The
 * shim's lock is held in all functions.
 */
#pragma once

#include "whichcudnn/record.h"

#define REPEATS_TOLD 16

uint64_t repeats_hash(enum wc_operation operation, const char *name, int flags,
                      int64_t caller_object);
bool repeats_knows(uint64_t what); /* it was told before */
/* Was it told REPEATS_TOLD times, or is there no room to count it? Then it is counted as a record
 * of that kind left out, else as told once more. What has to do with cuDNN or CUDA (matters) finds
 * room where a host has asked for thousands of others. */
bool repeats_leave_out(enum wc_kind kind, uint64_t what, bool matters);
