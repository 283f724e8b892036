/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whichcudnn explain --text: which messages a saved or pasted text has, and what to do about them.
 */
#pragma once

#include "options.h"
#include "tools/util/program.h"

/* path: a file, or "-" for standard input. 0: recognized; 3: nothing in it is known; 2: it cannot
 * be read. With logs, NULL at the end: what they say with the text's numbers, and its status. */
enum exit_code explain_text(const char *path, char *const *logs, const struct options *options);
