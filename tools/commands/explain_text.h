/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whichcudnn explain --text: which messages a saved or pasted text has, and what to do about them.
 */
#pragma once

#include "options.h"
#include "tools/util/program.h"

struct explain_with {
    const char *text;  /* a file, or "-" for standard input */
    const char *scan;  /* what is scanned; NULL: nothing */
    char *const *logs; /* NULL at the end */
};

/* 0: recognized; 3: nothing in it is known; 2: it cannot be read. With logs or a scan: what they
 * say with the text's numbers, and their status. */
enum exit_code explain_text(const struct explain_with *with, const struct options *options);
