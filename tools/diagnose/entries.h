/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of texts, as of the entries of a directory, in an arena. */
#pragma once

#include <fnmatch.h>

#include "core/base/files.h"

struct entries {
    const char **p; /* with a NULL at the end, where there is any */
    size_t n;
};

/* Only these add to a list, and not to a copy of one. The text is not copied; NULL: nothing is
 * added. */
void entries_add(struct wc_arena *memory, struct entries *to, const char *text);
void entries_add_new(struct wc_arena *memory, struct entries *to, const char *text); /* once each */
/* Through one that a call gives: EACH_ENTRY(entry, view_entries(v, directory)) use(*entry); */
#define EACH_ENTRY(entry, list) for (const char *const *entry = (list).p; entry && *entry; entry++)
/* Does it hold for any of such a one? */
#define ANY_ENTRY(entry, list, holds)                                                              \
    ({                                                                                             \
        const struct entries list_ = (list);                                                       \
        WC_ANY(entry, list_, holds);                                                               \
    })

/* Files as they are looked at, and where the texts live that are read of them. */
struct view {
    struct wc_arena *memory;
    const struct wc_files *files;
};
#define view_format(v, ...) wc_arena_format((v).memory, __VA_ARGS__)
bool view_has(struct view v, const char *path);
/* None where the directory cannot be read, or is NULL. */
struct entries view_entries(struct view v, const char *directory);
/* All of a file, up to a bound that no package's metadata exceeds; NULL: it cannot be read. */
char *view_text(struct view v, const char *path);
/* The directory of a file, without a '/' behind. */
const char *view_directory(struct view v, const char *path);
/* Behind all links; NULL: nothing is there. */
const char *view_real_path(struct view v, const char *path);
/* Is it a prefix of conda's? */
bool view_is_conda(struct view v, const char *path);
/* The directories that ldconfig reads: those that /etc/ld.so.conf and the files that it includes
 * name, in that order. The loader's own are there only if they are named. */
struct entries ldconfig_directories(struct view view);
/* Is it one of the directories that the loader searches by itself, or below one? */
bool is_of_system(const char *path);
/* As a shell has patterns, with "@(a|b)". */
static inline bool fits(const char *pattern, const char *text) {
    return fnmatch(pattern, text, FNM_EXTMATCH) == 0;
}
/* Is that one of the elements of a list of paths (NULL: of none)? n: its length. */
bool path_has_element(const char *path, const char *element, size_t n);
