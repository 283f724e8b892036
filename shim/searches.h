/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays the loader's searches for libraries of cuDNN and CUDA (core/search/search.h) and records
 * them: where the loader looked, and which other files of that name exist. The shim's lock is held
 * in all functions.
 */
#pragma once

#include "core/names/names.h"
#include "core/search/replay.h"
#include "objects.h"
#include "requests.h"

/* The search for a new object that was requested or needed by a bare name. */
void searches_emit_object(const struct object *o);
/* The searches for facades that a new host needs and that were loaded before it. e: its image. */
void searches_emit_needed(const struct object *host, const struct wc_elf_image *e);
/* The search of a request that returned an object which was loaded before. */
void searches_emit_answered(const struct request *r);
/* The search of a failed request. Returns the replay, valid until the next one; NULL: none was
 * made. */
struct wc_replay *searches_emit_failed(const struct request *r);

/* The search for a library that `file`, which need not be mapped, needs, and because of which the
 * request failed. */
void searches_emit_missing(const struct request *r, const struct wc_search_object *file,
                           const char *name);

/* A replay without a record, for an object that need not be mapped; NULL: no memory. And the file
 * that it takes; NULL: none. Both are valid until the next replay. */
struct wc_replay *searches_replay(const struct wc_search_object *caller, const char *name);
const char *searches_taken(const struct wc_search_object *caller, const char *name);
/* The path that the loader's cache has for a name, valid until the next call; NULL: none. */
const char *searches_cached(const char *name);

/* Is a library of that name worth a replay? */
static inline bool searches_matter(const char *name) {
    return wc_name_kind_of(name) != WC_NAME_OTHER && !wc_str_find_char(name, '/');
}

/* After a fork: forgets which searches have their records. */
void searches_forget(void);
