/* SPDX-License-Identifier: Apache-2.0 */
/* The one variable of sys.h. */
#include "sys.h"

bool sys_cannot_close;
