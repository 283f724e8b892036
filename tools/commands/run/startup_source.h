/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that ended in the loader, as its files explain it (loader_sim.h): a source like a log.
 */
#pragma once

#include <stdbool.h>

#include "tools/observe/log/source.h"

enum startup_end {                     /* what its end says of the reason */
                   STARTUP_ANY,        /* nothing: who started it made a status of its own */
                   STARTUP_REFUSED,    /* a library or a function is missing */
                   STARTUP_VERSION,    /* a symbol version is missing */
                   STARTUP_DAMAGED,    /* a signal: only what is damaged tells why */
                   STARTUP_PASSED_OVER /* it is not known: what is missing must be of cuDNN's */
};

struct startup {
    const char *program;      /* an ELF file */
    char *const *environment; /* as it was started with */
    int64_t child;            /* its pid, or its script's */
    const char *path;         /* where the records are written, too, in a new file; NULL: nowhere */
    enum startup_end end;
    bool only_reason; /* no source is wanted */
};

/* NULL: cuDNN has no part in it; then *reason (the caller frees) says which library is missing, if
 * one is. The caller frees with source_free. */
struct source *startup_source(const struct startup *start, char **reason);
