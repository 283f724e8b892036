/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/base/files.h"

/* The file of its environment that a package opens by itself before it asks for that library by
 * bare names (cudnn-frontend). module: a path of the package's. NULL: none is there. */
char *package_file(const struct wc_files *files, const char *module, const char *name);
