/* SPDX-License-Identifier: Apache-2.0 */
/* How a process ended, as far as that is known. */
#pragma once

enum wc_end {
    WC_END_UNKNOWN,
    WC_END_RUNS,    /* it still runs, or nothing of it ever did */
    WC_END_NORMAL,  /* by exit, with a status that is not known */
    WC_END_ASSUMED, /* not known; its parent waited for it, and ended well */
    WC_END_WELL,
    WC_END_FAILED /* it, or the command that it belongs to */
};
