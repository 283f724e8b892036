/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a file that may be packed with gzip or zstd, which its first bytes say, whatever it is
 * called. What is not packed comes as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct unpack;

/* Reads from fd, which stays the caller's. */
struct unpack *unpack_begin(int fd);
void unpack_end(struct unpack *u);
/* As read(). -1: unpack_trouble says why. */
ssize_t unpack_read(struct unpack *u, void *to, size_t n);
/* Known after the first read. */
bool unpack_is_packed(const struct unpack *u);
/* NULL: none. Lives as long as u. */
const char *unpack_trouble(const struct unpack *u);
