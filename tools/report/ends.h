/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How processes ended whose logs do not say it, from what the other logs of their job say.
 */
#pragma once

#include "tools/observe/log/source.h"

/* Sets `end` of each. */
void ends_settle(struct source *const *processes, size_t n);
