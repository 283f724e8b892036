/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the process that wrote a log still runs, by /proc of this machine.
 */
#pragma once

#include "source.h"

enum process_state {
    PROCESS_NOT_KNOWN, /* it was on another machine, or its log does not say when it began */
    PROCESS_RUNS,
    PROCESS_GONE
};
enum process_state process_state(const struct source *log);
