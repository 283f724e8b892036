/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/maps: what is mapped where.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end, offset, inode;
    uint64_t device; /* as stat gives it */
    bool readable, executable;
    /* Of the file, as the kernel has it; NULL: no file. It spells a newline \012 and puts
     * " (deleted)" after the name of a file that has no name any more, and a file's own name may
     * hold both: which it is, only the file can emit. */
    char *path;
};

struct maps { /* all zero: none */
    struct mapping *p;
    size_t n;
};

/* Adds all that is understood of a whole text; what is not is left out. */
void maps_read(struct maps *m, const char *text, size_t n);
void maps_end(struct maps *m);
bool maps_same(const struct maps *a, const struct maps *b);

#define MAPS_NAMES 4
/* What a path of the kernel's may mean, likeliest first: as it stands, without " (deleted)", each
 * with newlines for \012. Returns how many there are; the caller frees each. gone[i]: that reading
 * takes the file for deleted. */
size_t maps_names(const char *path, char *name[MAPS_NAMES], bool gone[MAPS_NAMES]);
