/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of cudnnStatus_t in each major: their names, and what they mean for a diagnosis. The
 * numbers changed with cuDNN 9.
 */
#pragma once

#include "core/base/base.h"

enum wc_status_sort {
    WC_STATUS_UNLISTED, /* not in the table: an unknown failure */
    WC_STATUS_SUCCESS,
    WC_STATUS_ANSWER,          /* a refusal that hosts expect while they look for an algorithm */
    WC_STATUS_NOT_INITIALIZED, /* what cudnnCreate says without a driver, among other causes */
    WC_STATUS_VERSIONS_DIFFER, /* cuDNN's own check of its parts failed */
    WC_STATUS_PART_UNAVAILABLE,
    WC_STATUS_FAILURE
};

/* major: of the library that returned it; negative: not known, which still names every value that
 * means the same in all majors. NULL: not a value of that major. */
const char *wc_status_name(int64_t status, int32_t major);
enum wc_status_sort wc_status_sort(int64_t status, int32_t major);
