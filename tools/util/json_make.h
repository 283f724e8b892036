/* SPDX-License-Identifier: Apache-2.0 */
/* jansson's json_pack() as far as it is wanted here: with that comes an unpacker, 4 KB of a wheel.
 */
#pragma once

#include <jansson.h>

/*
 * An object of keys and values: json_make("sI", "name", "x", "size", (json_int_t)3). Of each value
 * one letter says what is passed: s a text (NULL: null), i an int, I a json_int_t, b an int as
 * true or false, n nothing, o a json_t that is given away, O one that is kept, too.
 */
json_t *json_make(const char *values, ...);
