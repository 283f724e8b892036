/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faces of a comparison.
 */
#pragma once

#include <jansson.h>

#include "compare.h"
#include "report.h"
#include "tools/util/layout.h"

/* "A  ok: everything seen fits together", and where that comes from. */
void render_side(struct layout *l, const char *name, const struct report *r);
/* Under a heading for each kind, both sides of each; a and b: what the sides are called. */
void render_differences(struct layout *l, const struct comparison *c, const char *a, const char *b);
/* "differs: version of libcudnn.so.9: 9.1.0, not 9.8.0 (and 2 more)". */
void render_first_difference(struct layout *l, const char *word, const struct comparison *c);

/* New references. */
json_t *side_json(const struct report *r);
json_t *differences_json(const struct comparison *c);
