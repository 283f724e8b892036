/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a repair of some findings: see rules.def. */
#pragma once

#include <stdbool.h>

enum rule {
    MIXTURE = 1 << 0,
    TORN = 1 << 1,
    PACKAGE_STAYS = 1 << 2,
    NO_VARIABLE = 1 << 3,
    NO_FILES = 1 << 4,
    OTHER_LIBRARY = 1 << 5,
    OTHER_COPY = 1 << 6,
    OWN_COPY = 1 << 7,
    NEVER_NEW = 1 << 8,
    OTHER_HOST = 1 << 9,
};

/* Has the finding of that id all of these? */
bool has_rule(const char *id, unsigned rules);
