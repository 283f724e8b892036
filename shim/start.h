/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that the loader itself put on its list before anything ran, and what is found in
 * them. They stand first and stay where they are, so that they are read without a lock.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* The loader's list; NULL: not glibc's. */
const struct link_map *start_list(void);
/* The last of them; NULL: not noted yet. */
const struct link_map *start_end(void);
void start_note(const struct link_map *last);
/* Is it the code of one of them? */
bool start_has(uintptr_t address);
