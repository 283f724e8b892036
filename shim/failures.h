/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of failed requests and lookups, with everything that may explain them. The shim's lock is
 * held in all functions.
 */
#pragma once

#include "requests.h"

/* A failed request. text: the loader's message; NULL: inferred, as no object answers to the name.
 */
void failures_emit_request(struct request *r, const char *text);
/* A dlsym of a cuDNN function that returned NULL, with its request number. text NULL: the host has
 * not called dlerror yet. */
void failures_emit_lookup(int64_t number, const char *function, const char *caller,
                          int64_t caller_object, const char *text);
