/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that ended in the loader, as its files explain it (loader_sim.h): a source like a log.
 */
#pragma once

#include "tools/log/source.h"

/* program: an ELF file; preload: LD_PRELOAD as it was started with, the rest of its environment is
 * our own; child: its pid; path: where the records are written, too, in a new file, NULL: nowhere.
 * NULL: cuDNN has no part in it; then *reason (the caller frees) says which library is missing, if
 * one is. The caller frees with source_free. */
struct source *startup_source(const char *program, const char *preload, int64_t child,
                              const char *path, char **reason);
