/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where --output leads.
 */
#pragma once

#include <stdbool.h>

/* Text into a file, NULL: standard output. A regular file, or a new one, is there whole or not at
 * all: by rename. Only where its directory takes no other file is it written in place. False: it
 * could not, and was complained of. */
bool print_into(const char *path, const char *text);
