/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this computer shows, beside a driver that is there, of why it may reach no GPU. It is looked
 * at, the driver is not asked: so it counts only where a program failed for it.
 */
#pragma once

#include "core/model/stack.h"

/* In words, which the caller frees. NULL: nothing is seen. */
char *driver_fault(void);
/* What keeps a process of this computer from the MPS daemon. */
char *driver_fault_of_mps(const struct wc_stack *s);
