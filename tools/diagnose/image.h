/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small shared library for this machine with the same properties as a real one: its name,
 * what it needs and exports, its version. It means a file that would be installed, and is
 * never loaded.
 */
#pragma once

#include "core/names/version.h"
#include "entries.h"

struct image {
    const char *soname;
    const char *rpath, *runpath; /* NULL: none */
    struct entries needed;
    struct entries functions;   /* that it exports */
    struct entries constants;   /* names that it opens */
    struct wc_version version;  /* NONE: it does not say */
    const char *version_symbol; /* in which it says it: "cudnn_graph_version" */
    uint64_t size;              /* of the file at least; the rest reads as zero */
};

/* A descriptor of the file, in memory. */
int image_make(const struct image *image);
/* The same of any bytes. */
int image_of_bytes(const void *bytes, size_t n, uint64_t size);
