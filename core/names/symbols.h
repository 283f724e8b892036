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
 * The oldest release that has all functions of a set, and the newest; from imports this dates a
 * host, from exports a library. Start with {NONE, NONE}; call for each member.
 */
struct wc_release_range {
    struct wc_version floor, ceiling; /* NONE: no bound seen */
};
void wc_release_range_imports(struct wc_release_range *r, int function);
/* From what a library exports (has) and lacks: floor = newest `first` among what it has; ceiling =
 * below the `first` of what it lacks or at the `last` of what it has. has(ctx, function). */
void wc_release_range_exports(struct wc_release_range *r, bool (*has)(void *ctx, int function),
                              void *ctx);
