/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cuDNN functions that exist, and from which release to which. The table is generated at build
 * time from core/data/cudnn_symbols.tsv.
 */
#pragma once

#include "version.h"

#define WC_NO_FUNCTION (-1)

int wc_function_count(void);
/* Index of a listed function (sorted by name), WC_NO_FUNCTION if it is none, as NULL is. */
int wc_function_find(const char *name);
const char *wc_function_name(int function);
/* First release that has it, last one that had it (NONE: still there). A two-part first counts as
 * x.y.0, a two-part last covers all its patches (patch is -1). */
struct wc_version wc_function_first(int function);
struct wc_version wc_function_last(int function);

/*
 * The oldest and the newest release that have all functions of a set: the imports of a host, or the
 * exports of a library. Start with {NONE, NONE}; call for each import.
 */
struct wc_release_range {
    struct wc_version floor, ceiling; /* NONE: no bound seen */
};
void wc_release_range_imports(struct wc_release_range *r, int function);
/* From the functions that a library exports and lacks: floor is the newest `first` of those that it
 * has; ceiling is below the `first` of those that it lacks, and at most the `last` of those that it
 * has. has(ctx, function): does it export that one? */
void wc_release_range_exports(struct wc_release_range *r, bool (*has)(void *ctx, int function),
                              void *ctx);

/* The release whose wheels contain a part that this one looks for and lacks, "a later
 * release" where none does so far; NULL: it does not look for it, or contains it. */
const char *wc_part_comes_with(const char *part, struct wc_version release);
