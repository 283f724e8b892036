/* SPDX-License-Identifier: Apache-2.0 */
/* Seen from outside: is an object being relocated now, and for how long? */
#ifndef LOADER_SLOW_H
#define LOADER_SLOW_H

#include <stdatomic.h>

int slow_function(void);
extern atomic_int slow_entered;
extern atomic_int slow_milliseconds;

#endif
