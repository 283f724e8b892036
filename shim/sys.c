/* SPDX-License-Identifier: Apache-2.0 */
#include "sys.h"

bool sys_cannot_close;
