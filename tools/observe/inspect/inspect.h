/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running process into the model: what a log would print of it, but for what is over (requests
 * that failed, calls, their order).
 */
#pragma once

#include "tools/observe/log/source.h"

/* NULL: there is no such process, or it may not be looked at; *trouble (the caller frees) says
 * which. The caller frees with source_free. */
struct source *inspect_process(int64_t pid, char **trouble);
