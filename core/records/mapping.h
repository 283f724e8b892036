/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the kernel does not let the loader map a library that is sound, as far as /proc of the
 * process shows: how its file system is mounted, and how much address space the process may have.
 */
#pragma once

#include "core/elf/file_check.h"
#include "library.h"

/* Replaces fault and text of a sound file if one of these is the reason. path: canonical. refused:
 * the loader says that the system refused to map it; otherwise the address space counts as used up
 * only if the file itself needs more than the limit. */
void wc_check_mapping(const struct wc_reader *reader, const char *path, bool refused,
                      struct wc_file_check *check);
