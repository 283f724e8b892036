/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a directory as a list, for code that reads all of them. */
#pragma once

#include "core/base/files.h"

struct entries {
    const char **p;
    size_t n;
};

/* None where the directory cannot be read. Texts live in the arena. */
struct entries entries_of(struct wc_arena *memory, const struct wc_files *files,
                          const char *directory);
/* All of a file, up to a bound that no package's metadata exceeds; NULL: it cannot be read. */
char *text_of_file(struct wc_arena *memory, const struct wc_files *files, const char *path);
/* Is it one of the directories that the loader searches by itself, or below one? */
bool is_of_system(const char *path);
