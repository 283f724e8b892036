/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a repair of some findings: see rules.def. */
#pragma once

#include <stdbool.h>

enum {
#define ASKED(name, what) name##_NUMBER,
#include "rules.def"
};

enum rule {
#define ASKED(name, what) name = 1 << name##_NUMBER,
#include "rules.def"
};

/* Has the finding of that id all of these? */
/* Is it in that list, with blanks between? */
bool is_one_of(const char *ids, const char *id);
bool has_rule(const char *id, unsigned rules);
