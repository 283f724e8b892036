/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the loader looked for a library of cuDNN or CUDA, and what else stands there: replayed by
 * its rules (core/search/search.h) and written down. The shim's lock is held in all functions.
 */
#pragma once

#include "core/names/names.h"
#include "core/search/replay.h"
#include "objects.h"
#include "requests.h"

/* A new object that somebody asked for or needs, by a bare name. */
void searches_emit_object(const struct object *o);
/* What a new host needs of cuDNN was there before it came. e: its image. */
void searches_emit_needed(const struct object *host, const struct wc_elf_image *e);
/* A request that brought nothing new: what answers to it was there before. */
void searches_emit_answered(const struct request *r);
/* A request that failed; NULL: it was not replayed, else that replay, until the next. */
const struct wc_replay *searches_emit_failed(const struct request *r);

/* A request that failed since a file, which need not be mapped, does not find what it needs. */
void searches_emit_missing(const struct request *r, const struct wc_search_object *file,
                           const char *name);

/* A replay that is not told, for an object that need not be mapped, and the file that it takes;
 * until the next replay. NULL: no memory, or no such file. */
const struct wc_replay *searches_replay(const struct wc_search_object *caller, const char *name);
const char *searches_taken(const struct wc_search_object *caller, const char *name);
/* The path that the loader's cache has for a name, valid until the next call; NULL: none. */
const char *searches_cached(const char *name);

/* Is a library of that name worth a replay? */
static inline bool searches_matter(const char *name) {
    return wc_name_kind_of(name) != WC_NAME_OTHER && !wc_str_find_char(name, '/');
}

/* What was told is not known any more. */
void searches_forget(void);
