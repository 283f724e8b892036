/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the system let the loader have a file that it finds? Files that show nothing of that are
 * opened and mapped as the loader does it, with the limits and rights that the command had.
 */
#pragma once

#include "tools/observe/loader/loader_sim.h"

struct trial_end {
    size_t number; /* of the first file that is refused */
    int error;     /* errno; 0: none is */
};

/* paths: in the loader's order. They are mapped in a child that ends at once: nothing of them
 * runs. */
struct trial_end startup_trial(const char *const *paths, size_t n);
/* The same of n objects of a replay, which ends at one that is refused. */
void startup_trial_objects(struct loader_sim *s, size_t from, size_t n);
