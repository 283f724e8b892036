/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The auxiliary vector, which the kernel gives a process at its start.
 */
#pragma once

#include <stdint.h>

/* The vector follows the environment that execve made; without it /proc/self/auxv is read. */
void auxv_note_environment(const char *const *envp);
/* Value of an AT_ type, 0 if it does not exist or cannot be read. */
uint64_t auxv_value(uint64_t type);
/* Bytes of a page; 4096 if the kernel does not say. */
uintptr_t auxv_page_size(void);
