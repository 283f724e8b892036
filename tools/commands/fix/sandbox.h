/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process, and what it starts, with changes to directories that no other process sees: a mount
 * namespace with overlayfs over them, else with copies over them; where no namespace can be
 * created, copies in front of them by variables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SANDBOX_PLACES 16
#define ROOM_LEAST (16 << 20) /* bytes */

struct sandbox {
    const char *work; /* what is thrown away, below which all changes go */
    enum { SANDBOX_NONE, SANDBOX_COVERS, SANDBOX_COPIES } how;
    bool of_user; /* the namespace has users of its own */
    char *places[SANDBOX_PLACES];
    size_t n;
};

/* s all zero but `work`. From now on changes in this directory no other process sees; it may be
 * asked for more later. place: a real path, not below another one of them. NULL: done; else why
 * not, which the caller frees. */
char *sandbox_cover(struct sandbox *s, const char *place);
/* A hint where there is hardly any room left for the try; else "". */
const char *sandbox_room(const struct sandbox *s);
/* Is hardly any left on the disk of that path? */
bool has_little_room(const char *path);
/* "PATH: " and what errno is. The caller frees. */
char *trouble_of(const char *path);
/* Is it below that directory, or the same? */
bool is_within(const char *path, const char *top);
/* The text with each directory replaced by its copy. The caller frees. */
char *sandbox_there(const struct sandbox *s, const char *text);
/* Of a variable that is a list of directories: one before all others. */
void sandbox_put_in_front(const char *variable, const char *directory);
/* For what makes a repair, and not for the command itself: it can write there, and into its own
 * caches, and nowhere else, whatever its settings say (pip's `target`). It is in the child
 * before exec; sandbox is a struct sandbox. Where a kernel cannot do that (before 5.12) nothing
 * happens. */
void sandbox_guard(void *sandbox);
