/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of core/demand/findings.def say about a repair, and the words for it. */
#pragma once

#include "core/demand/diagnose.h"

/* ---- what is asked of such an edit in addition to removing the finding (judge.c) ---- */

enum asks {
    /* Only removing a package hides what is wrong. */
    PACKAGE_STAYS = 1 << 0,
    /* Only variables leave what is wrong as it is. */
    NO_VARIABLE = 1 << 1,
    VARIABLES_ALONE = 1 << 2, /* nothing but variables repairs it */
    NO_FILES = 1 << 3,        /* new files are refused as the old ones were */
    NEVER_NEW = 1 << 4,       /* no repair of any finding may cause it */
    OTHER_HOST = 1 << 5,      /* another release of the host is a way out, too */
    OF_CALLS = 1 << 6,        /* how calls went is carried over, whatever is repaired */
    TORN = 1 << 7,            /* it is about a torn set */
    MIXTURE = 1 << 8,    /* these are one: which is reported depends on how far a process came */
    OF_DRIVER = 1 << 10, /* other files of cuDNN need the driver as these do */
    LACK = 1 << 9        /* these are one where a function is lacking: the loader refuses the
                          * library for it, or it is reported before */
};

/* Does the finding's row ask all of these? */
bool asks(const struct wc_finding_record *f, unsigned asked);
bool is_a(const struct wc_finding_record *f, const char *id);
