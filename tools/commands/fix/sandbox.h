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

struct sandbox {
    const char *work; /* what is thrown away, below which all changes go */
    enum { SANDBOX_NONE, SANDBOX_COVERS, SANDBOX_COPIES } how;
    bool of_user; /* the namespace has users of its own */
    char *places[SANDBOX_PLACES];
    size_t n;
};

/* s all zero but `work`. From now on changes in these directories no other process sees; it may be
 * asked for more later. places: real paths, none below another. NULL: done;
 * else why not, which the caller frees. */
char *sandbox_cover(struct sandbox *s, const char *const *places, size_t n);
/* A hint where there is hardly any room left for the try; else "". */
const char *sandbox_room(const struct sandbox *s);
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
