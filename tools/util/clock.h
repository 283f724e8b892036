/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as one number.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND INT64_C(1000000)

/* Microseconds: CLOCK_REALTIME since the epoch, CLOCK_MONOTONIC since whenever. */
static inline int64_t clock_now(clockid_t clock) {
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * CLOCK_SECOND + t.tv_nsec / 1000;
}
