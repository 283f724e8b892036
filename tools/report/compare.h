/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes next to each other: what differs, cause first. For ranks of one run, and for runs
 * that should have been the same. What only one of the sources can know (a scan sees no calls) is
 * not compared, nor is what a lock does not say; only paths are not a difference.
 */
#pragma once

#include "tools/observe/log/source.h"

/* In the order of cause and effect. The last cannot lead the loader to another file. */
enum difference_kind {
    DIFFERENCE_ENVIRONMENT,  /* a variable that leads the loader or a framework */
    DIFFERENCE_PACKAGE,      /* a package of cuDNN: there, its version, its state */
    DIFFERENCE_HOST,         /* a host: there, what it requires */
    DIFFERENCE_FOUND,        /* by which rule a library was found, which installation it is of */
    DIFFERENCE_LIBRARY,      /* a library: there, its version, its build */
    DIFFERENCE_BINDING,      /* which host uses which library */
    DIFFERENCE_DRIVER,       /* the driver, the GPUs */
    DIFFERENCE_FAILURE,      /* what was requested without success */
    DIFFERENCE_CALL,         /* a call and its status */
    DIFFERENCE_SURROUNDINGS, /* the rest of the machine */
};

struct difference {
    enum difference_kind kind;
    const char *what;      /* "LD_LIBRARY_PATH", "libcudnn.so.9" */
    const char *attribute; /* "version", "rule"; NULL: what itself is there or not */
    const char *a, *b;     /* NULL: there is none on that side, or it is not known */
};

struct comparison {
    struct difference *p;
    size_t n;
    struct heap_arena memory; /* of their texts */
};

/* *c must not move until comparison_end. */
void compare(struct comparison *c, const struct source *a, const struct source *b);
void comparison_end(struct comparison *c);

/* Of a variable: it distinguishes ranks, and so differs where all is well. */
bool compare_passes_over(const char *variable);
/* The list as in LD_PRELOAD without the shim. NULL: nothing is left. The caller frees. */
char *compare_preloads(const struct wc_process_record *p, const char *list);

extern const struct difference_words {
    const char *word, *heading; /* "library"; "libraries", for people */
} difference_words[];
const char *difference_value(const char *value); /* NULL: "none"; "": "empty" */
/* "version of libcudnn.so.9: 9.1.0, not 9.8.0": what b has that a has not. The caller frees. */
char *difference_text(const struct difference *d);
