/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the loader looked for a library of cuDNN or CUDA, and what else stands there: replayed by
 * its rules (core/search/search.h) and written down. The shim's lock is held in all functions.
 */
#pragma once

#include "core/names/names.h"
#include "core/search/search.h"
#include "objects.h"
#include "requests.h"

/* A new object that somebody asked for or needs, by a bare name. */
void searches_emit_object(const struct object *o);
/* What a new host needs of cuDNN was there before it came. e: its image. */
void searches_emit_needed(const struct object *host, const struct wc_elf_image *e);
/* A request that brought nothing new: what answers to it was there before. */
void searches_emit_answered(const struct request *r);
/* A request that failed. True: it was replayed, and the questions below are about it. */
bool searches_emit_failed(const struct request *r);

/* A request that failed since a file, which need not be mapped, does not find what it needs. */
void searches_emit_missing(const struct request *r, const struct wc_search_object *file,
                           const char *name);

/* A replay that is not told, for an object that need not be mapped. False: no memory. */
bool searches_replay(const struct wc_search_object *caller, const char *name);
/* Of the last replay, until the next: the file that it takes (NULL: none), the i-th one that it
 * passes over or ends at, the i-th directory that it looked into; NULL past the last. */
const char *searches_taken(void);
const char *searches_passed(size_t i);
const char *searches_directory(size_t i, enum wc_search_rule *rule);
/* The path that the loader's cache has for a name, valid until the next call; NULL: none. */
const char *searches_cached(const char *name);

/* Is a library of that name worth a replay? */
static inline bool searches_matter(const char *name) {
    return wc_name_kind_of(name) != WC_NAME_OTHER && !wc_str_find_char(name, '/');
}

/* What was told is not known any more. */
void searches_forget(void);
