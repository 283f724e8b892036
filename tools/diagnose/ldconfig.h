/* SPDX-License-Identifier: Apache-2.0 */
/* The directories that ldconfig reads. */
#pragma once

#include "tools/diagnose/entries.h"

/* Those that /etc/ld.so.conf and the files that it includes name, in that order. The loader's own
 * directories are there only if they are named. */
struct entries ldconfig_directories(struct view view);
