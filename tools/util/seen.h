/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is at the paths of this machine, each looked at once: for callers that ask for the same ones
 * a thousand times, and may be reported of files as they were at first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "below.h"
#include "hash.h"
#include "memory.h"

struct seen {
    UT_hash_handle hh;
    const char *path;
    int error; /* of lstat; 0: it is there */
    struct stat facts;
    const char *target;       /* of a link, once asked for */
    const char *const *names; /* of a directory, once asked for, NULL at the end */
    unsigned char *bytes;     /* of a file, once asked for; NULL: not kept */
    size_t kept;              /* how many of these: of a large file a loader's first look only */
    struct sought *sought;    /* in these */
};

struct seen_paths {
    const struct below *below;
    struct heap_arena memory;
    struct seen *all;
    size_t bytes; /* of files */
};

/* below: of what, and how; it stays there. */
void seen_begin(struct seen_paths *p, const struct below *below);
void seen_end(struct seen_paths *p);
/* Without links in its directories. Never NULL. */
struct seen *seen_at(struct seen_paths *p, const char *path);
/* NULL: errno. */
const char *seen_target(struct seen_paths *p, struct seen *s);
const char *const *seen_names(struct seen_paths *p, struct seen *s);
/* Does s->bytes hold the file's bytes up to that one now, or up to its end? */
bool seen_bytes(struct seen_paths *p, struct seen *s, uint64_t end);
/* As wc_reading_find(); its bytes must be there. */
uint64_t seen_find(struct seen_paths *p, struct seen *s, uint64_t from, const char *text,
                   bool at_line);
