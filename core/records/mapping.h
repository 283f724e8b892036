/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the kernel does not let the loader map a library that is sound, as far as /proc of the
 * process tells: how its file system is mounted, and how much address space the process may have.
 */
#pragma once

#include "core/elf/file_check.h"
#include "library.h"

/* Puts fault and words of a sound file anew where one of these is the reason; path: canonical.
 * said: the system is known to have refused it. Else what is less than the limit may find room. */
void wc_check_mapping(const struct wc_reader *reader, const char *path, bool said,
                      struct wc_file_check *check);
