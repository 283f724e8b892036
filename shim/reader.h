/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens library files for core/ (core/records/library.h): at most two at a time, the second one
 * while the first is being read. The shim's lock is held.
 */
#pragma once

#include "core/records/library.h"

/* Its scratch is NULL if there is no memory. */
const struct wc_reader *reader(void);
