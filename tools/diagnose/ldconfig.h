/* SPDX-License-Identifier: Apache-2.0 */
/* What ldconfig would do: the directories that it reads, and the loader's cache after it. */
#pragma once

#include "tools/diagnose/entries.h"

/* Those that /etc/ld.so.conf and the files that it includes name, in that order. The loader's own
 * directories are there only if they are named. */
struct entries ldconfig_directories(struct wc_arena *memory, const struct wc_files *files);

struct ldconfig_entry {
    const char *name, *path;
};

/* The bytes of that cache with more entries. Of two with one name, that of the earlier
 * directory comes first; what no longer exists comes last. NULL: its format is not known, or it has
 * all entries already. The caller frees. */
unsigned char *ldconfig_cache(struct wc_span cache, const struct wc_files *files,
                              const struct entries *directories, const struct ldconfig_entry *added,
                              size_t n, size_t *size);
