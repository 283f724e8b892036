/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader refused: its words, and what is known of why. The shim's lock is held in all
 * functions.
 */
#pragma once

#include "requests.h"

/* The loader's words for a failed request, or NULL: nothing answers to its name. */
void failures_emit_request(struct request *r, const char *text);
/* A dlsym of a cuDNN name that gave NULL, by that number; text NULL: nobody asked for the words, so
 * far. */
void failures_emit_lookup(int64_t number, const char *function, const char *caller,
                          int64_t caller_object, const char *text);
