/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time, by the kernel's own code in the process (vDSO): no system call where that has a clock.
 */
#pragma once

#include <stdint.h>

/* Microseconds since the epoch; 0 where it is refused. */
int64_t clock_now(void);
