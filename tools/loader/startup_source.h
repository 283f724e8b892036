/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that ended in the loader, as its files explain it (loader_sim.h): a source like a log.
 */
#pragma once

#include "tools/log/source.h"

struct startup {
    const char *program; /* an ELF file */
    const char *preload; /* LD_PRELOAD as it was started with; the rest is our own environment */
    int64_t child;       /* its pid */
    const char *path;    /* where the records are written, too, in a new file; NULL: nowhere */
    bool damaged;        /* it was ended by a signal: only what is damaged tells why */
};

/* NULL: cuDNN has no part in it; then *reason (the caller frees) says which library is missing, if
 * one is. The caller frees with source_free. */
struct source *startup_source(const struct startup *start, char **reason);
