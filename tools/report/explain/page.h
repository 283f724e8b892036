/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of docs/findings.md, built into the command.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* The section below the heading of an id, as it is there, in Markdown. NULL: there is none. */
const char *page_of(const char *id);
/* The general title; NULL: there is no such finding. */
const char *title_of(const char *id);

/* The same for a terminal of 80 columns, as generate_pages.py makes it. False: there is none. */
bool page_print(FILE *to, const char *id, bool colour);
