/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faces of a scan.
 */
#pragma once

#include <stdio.h>

#include "report.h"
#include "tools/commands/options.h"
#include "tools/scan/scan.h"

/* whole: nothing is shortened. As text, or as JSON in the shape of docs/scan.schema.json. */
enum exit_code render_scans(FILE *to, struct scan *const *scans, size_t n,
                            const struct options *options, bool whole);
