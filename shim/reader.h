/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the shim looks into libraries' files (core/records/library.h): two at a time, one of them for
 * what the other leads to. Its lock is held.
 */
#pragma once

#include "core/records/library.h"

/* Without scratch where there is no memory. */
const struct wc_reader *reader(void);
